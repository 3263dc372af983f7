"""Trying a job again: the new one takes over what the old one has told."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, insert, literal, select, update

from driftfold_api.archive.reading import job_of
from driftfold_api.archive.tables import jobs, records
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import Conflict


def following(connection: Connection, job: Job, source: str) -> Job:
    """Return a new job as it goes on where another one ended; nothing is written yet.

    Raises `Conflict` unless that one is recorded as failed or canceled.
    """
    ended = job_of(connection, source)
    if ended.state not in (State.FAILED, State.CANCELED):
        raise Conflict(
            f"job {source} is {ended.state}; only one that has failed or was canceled can be taken "
            "over"
        )
    return replace(
        job,
        seq=ended.seq,
        rounds=ended.rounds,
        checkpoint=ended.checkpoint,
        origin={**(job.origin or {}), "records": ended.seq},
    )


def take_over(connection: Connection, job: str, source: str) -> None:
    """Copy the records of a job to one that goes on from them."""
    old = select(literal(job), records.c.seq, records.c.record).where(records.c.job == source)
    connection.execute(insert(records).from_select(["job", "seq", "record"], old))
    lost = connection.execute(select(jobs.c.lost).where(jobs.c.id == source)).scalar_one()
    connection.execute(update(jobs).where(jobs.c.id == job).values(lost=lost))


def mark(connection: Connection, job: Job) -> None:
    """Note at a job that this one tries it again, if it does."""
    if job.origin is not None and job.origin["how"] == "retry":
        tried = jobs.c.id == job.origin["job"]
        connection.execute(update(jobs).where(tried).values(retried_by=job.id))


def retries_of(connection: Connection, jobs_: Sequence[str]) -> Mapping[str, str]:
    """Return by which jobs some were tried again, the latest of each; others are left out."""
    found = connection.execute(
        select(jobs.c.id, jobs.c.retried_by).where(
            jobs.c.id.in_(jobs_), jobs.c.retried_by.is_not(None)
        )
    )
    return {row.id: row.retried_by for row in found}

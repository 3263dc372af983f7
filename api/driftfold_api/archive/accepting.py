"""Accepting a job: its row and its idempotency key in one step."""

import hashlib
import json
import time
from dataclasses import replace

from sqlalchemy import Connection, delete, insert, select, update

from driftfold_api.archive import repeating
from driftfold_api.archive.base import KeyReused, QueueFull, UnknownPrerequisite, Wanted
from driftfold_api.archive.database import Database
from driftfold_api.archive.reading import states_of
from driftfold_api.archive.rows import to_job, to_row
from driftfold_api.archive.tables import idempotency, jobs
from driftfold_workers.jobs.canonical import to_json
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.new_id import made, new_id

FULL = (
    "as many jobs are queued as this service takes (`driftfold serve --queue-limit`); submit again "
    "when some of them have run"
)
KEEP = 24 * 3600.0  # seconds that a key is kept


def job_of_wanted(wanted: Wanted, group: str = "") -> Job:
    """Return a new job; nothing is written yet."""
    new, terms = new_id(), wanted.terms
    now = made(new)
    if wanted.delay is not None:
        terms = replace(terms, not_before=round(now + wanted.delay, 3))
    return Job(
        id=new,
        spec=json.loads(to_json(wanted.spec)),
        needs=tuple(sorted(set(wanted.needs))),
        state=State.QUEUED,
        name=wanted.name,
        created=now,
        horizon_rounds=wanted.horizon_rounds,
        terms=terms,
        group=group or wanted.group,
        origin=wanted.origin,
    )


def check(connection: Connection, wanted: Wanted, room: bool) -> None:
    """Refuse what there is no room for, and what is to wait for a job that is not here."""
    if not room:
        raise QueueFull(FULL)
    if missing := set(wanted.terms.after) - states_of(connection, wanted.terms.after).keys():
        first = next(job for job in wanted.terms.after if job in missing)
        raise UnknownPrerequisite(f"no job has the id {first}; a job can wait for those there are")


def make(connection: Connection, wanted: Wanted, sent: bool, room: bool) -> Job:
    """Make a job, or refuse to before anything is written."""
    check(connection, wanted, room)
    job = job_of_wanted(wanted)
    if wanted.log_of:
        job = repeating.following(connection, job, wanted.log_of)
    connection.execute(insert(jobs), to_row(job) | {"sent": sent})  # values beside: compiled once
    if wanted.log_of:
        repeating.take_over(connection, job.id, wanted.log_of)
    return job


def make_once(
    connection: Connection,
    database: Database,
    wanted: Wanted,
    key: str,
    instead_of: str,
    sent: bool,
    room: bool,
) -> tuple[Job, bool]:
    """Make a job unless the key has made one that counts."""
    digest = digest_of(wanted)
    keys = idempotency
    known = (
        connection.execute(
            select(keys.c.digest, keys.c.created, jobs)
            .join(jobs, jobs.c.id == keys.c.job)
            .where(keys.c.key == key)
            .with_for_update(of=keys)
        )
    ).one_or_none()
    if known is not None:
        age = time.time() - known[1]
        if age < KEEP and known.digest != digest:
            raise KeyReused(
                f"this idempotency key was used for job {known.id}, which has another "
                "specification, name or terms; use a new key for a new job"
            )
        if age < KEEP and known.state != State.FAILED and known.id != instead_of:
            return to_job(known), False
        job = make(connection, wanted, sent, room)
        values = {"job": job.id, "digest": digest, "created": job.created}
        connection.execute(update(keys).where(keys.c.key == key).values(values))
        return job, True
    job = make(connection, wanted, sent, room)
    entry = {"key": key, "digest": digest, "job": job.id, "created": job.created}
    added = connection.execute(database.insert_new(keys), entry)
    if added.rowcount:
        return job, True
    # Somebody else was faster, who has committed by now.
    connection.execute(delete(jobs).where(jobs.c.id == job.id))
    return make_once(connection, database, wanted, key, instead_of, sent, room)


def digest_of(wanted: Wanted) -> str:
    """Return what equal requests have in common.

    >>> first, second = Wanted({"a": 1, "b": 2}, ["x", "y"]), Wanted({"b": 2, "a": 1}, ["y", "x"])
    >>> digest_of(first) == digest_of(second)
    True
    """
    request = [wanted.spec, sorted(set(wanted.needs)), wanted.name, wanted.horizon_rounds]
    how = {
        "terms": replace(wanted.terms, trace="").to_table(),
        "delay": wanted.delay,
        "group": wanted.group,
        "origin": wanted.origin,
        "log_of": wanted.log_of,
    }
    said = {name: value for name, value in how.items() if value}
    return hashlib.sha256(to_json([*request, said] if said else request).encode()).hexdigest()

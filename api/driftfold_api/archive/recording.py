"""Recording: what jobs have told becomes rows, each once."""

from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from driftfold_api.archive.base import Overtaken, Position
from driftfold_api.archive.database import Database
from driftfold_api.archive.rows import changing, event_row, plain, to_event
from driftfold_api.archive.tables import attempts, jobs, lifecycle, records
from driftfold_api.archive.tables import recorder as recorders
from driftfold_api.attempts import BEGIN, END, attempts_of
from driftfold_api.models import Lifecycle
from driftfold_workers.excerpt import Excerpt
from driftfold_workers.store import StoreError


def take_over(connection: Connection) -> int:
    """Return a fencing token that is newer than any."""
    connection.execute(update(recorders).values(fence=recorders.c.fence + 1))
    return int((connection.execute(select(recorders.c.fence))).scalar_one())


def stand(connection: Connection, fence: int) -> None:
    """Hold the fence until the end of the transaction; it must still be ours."""
    ours = update(recorders).where(recorders.c.fence == fence).values(fence=fence)
    if not (connection.execute(ours)).rowcount:
        raise Overtaken(f"another recorder is in charge: the fence {fence} is an old one")


def touch(connection: Connection) -> None:
    """Write, and change nothing."""
    connection.execute(update(recorders).values(fence=recorders.c.fence))


def write(connection: Connection, database: Database, excerpt: Excerpt, known: Position) -> None:
    """Write an excerpt of a job that is recorded up to a position."""
    job = excerpt.job.id
    events = [event for event in excerpt.events if event.number > known.events]
    numbers = range(known.events + 1, known.events + 1 + len(events))
    if excerpt.first > known.seq + 1 or [event.number for event in events] != list(numbers):
        raise StoreError(
            f"what is told of job {job} does not follow record {known.seq} and event "
            f"{known.events}, which are the last recorded"
        )
    rows: list[dict[str, Any]] = [
        {"job": job, "seq": seq, "record": plain(record.decode(errors="replace"))}
        for seq, record in enumerate(excerpt.records, excerpt.first)
        if seq > known.seq
    ]
    if rows:
        connection.execute(database.insert_new(records), rows)
    if events:
        new = [event_row(job, event) for event in events]
        connection.execute(database.insert_new(lifecycle), new)
    # What is only partly known must not look like the end of a job.
    facts = changing(excerpt.job) if excerpt.current else {}
    place = {"seq": max(known.seq, excerpt.last), "events": known.events + len(events)}
    connection.execute(update(jobs).where(jobs.c.id == job).values(**facts, **place))
    if any(event.kind in (*BEGIN, *END) for event in events):
        _fold(connection, job)


def _fold(connection: Connection, job: str) -> None:
    """Tell the attempts anew from the events: they are few."""
    kinds = lifecycle.c.kind.in_((*BEGIN, *END))
    found = connection.execute(
        select(lifecycle).where(lifecycle.c.job == job, kinds).order_by(lifecycle.c.number)
    )
    rows = [
        {"job": job, **attempt.model_dump()}
        | {
            "started": attempt.started.timestamp(),
            "ended": None if attempt.ended is None else attempt.ended.timestamp(),
        }
        for attempt in attempts_of(Lifecycle.of(to_event(row)) for row in found)
    ]
    connection.execute(delete(attempts).where(attempts.c.job == job))
    if rows:
        connection.execute(insert(attempts), rows)

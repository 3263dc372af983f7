"""Recording: what jobs have told becomes rows, each once."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from driftfold_api.archive.base import Overtaken, Position
from driftfold_api.archive.database import Database
from driftfold_api.archive.rows import (
    attempt_row,
    changing,
    event_row,
    plain,
    to_attempt,
    to_row,
)
from driftfold_api.archive.tables import attempts, jobs, lifecycle, records
from driftfold_api.archive.tables import recorder as recorders
from driftfold_api.attempts import BEGIN, END, attempts_of
from driftfold_api.models import Lifecycle
from driftfold_workers.jobs.excerpt import Excerpt
from driftfold_workers.jobs.job import LifecycleEvent, State
from driftfold_workers.jobs.store import StoreError


def take_over(connection: Connection) -> int:
    """Return a fencing token that is newer than any."""
    connection.execute(update(recorders).values(fence=recorders.c.fence + 1))
    return int((connection.execute(select(recorders.c.fence))).scalar_one())


def stand(connection: Connection, fence: int) -> None:
    """Hold the fence until the end of the transaction; it must still be ours."""
    ours = update(recorders).where(recorders.c.fence == fence).values(fence=fence)
    if not (connection.execute(ours)).rowcount:
        raise Overtaken(f"another recorder is in charge: the fence {fence} is an old one")


def adopt(connection: Connection, database: Database, excerpt: Excerpt) -> Position | None:
    """Make a row for a job that is known to the job store only; None if somebody has had it."""
    before = Position(excerpt.first - 1, excerpt.events[0].number - 1 if excerpt.events else 0)
    row = to_row(excerpt.job) | {"seq": before.seq, "events": before.events, "lost": before.seq}
    # What is only partly known must not look like the end of a job.
    row |= {"state": str(State.QUEUED), "finished": None, "result": None}
    added = connection.execute(database.insert_new(jobs).values(row))
    return before if added.rowcount else None


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
        _fold(connection, job, events)


def _fold(connection: Connection, job: str, events: Sequence[LifecycleEvent]) -> None:
    """Tell the attempts anew from the last one on, which is all that events can change."""
    of_job = attempts.c.job == job
    latest = connection.execute(
        select(attempts).where(of_job).order_by(attempts.c.epoch.desc()).limit(1)
    ).one_or_none()
    before = [] if latest is None else [to_attempt(latest)]
    told = attempts_of(map(Lifecycle.of, events), before)
    for attempt in before:
        connection.execute(delete(attempts).where(of_job, attempts.c.epoch == attempt.epoch))
    if told:
        connection.execute(insert(attempts), [attempt_row(job, attempt) for attempt in told])

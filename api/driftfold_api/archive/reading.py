"""Reading the archive: jobs, records, lifecycle events."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, select

from driftfold_api.archive.base import Deleted, Position, Wish
from driftfold_api.archive.rows import to_attempt, to_event, to_job
from driftfold_api.archive.tables import attempts, identity, jobs, lifecycle, records
from driftfold_api.models import Attempt
from driftfold_workers.jobs.job import Job, LifecycleEvent, State
from driftfold_workers.jobs.store import Page, StoreError, UnknownJob

PAGE_BYTES = 4 * 2**20  # of records in one answer: they may be long
ROWS = 100  # that are fetched at a time
AT_ONCE = 1000  # ids in one question: databases take so many, and not any number
OVER = tuple(str(state) for state in State if state.final)


def there() -> ColumnElement[bool]:
    """Return the condition that a job was not deleted."""
    return jobs.c.wish.is_distinct_from(Wish.DELETE)


def job_of(connection: Connection, job: str) -> Job:
    """Return a job."""
    return to_job(_one(connection, select(jobs), job))


def place_of(connection: Connection, job: str) -> Row[Any]:
    """Return how a job stands, without what may be long: its specification and its result."""
    columns = (
        jobs.c.id,
        jobs.c.state,
        jobs.c.reason,
        jobs.c.seq,
        jobs.c.lost,
        jobs.c.wish,
        jobs.c.events,
    )
    return _one(connection, select(*columns), job)


def _one(connection: Connection, wanted: Select[Any], job: str) -> Row[Any]:
    found = connection.execute(wanted.where(jobs.c.id == job)).one_or_none()
    if found is None:
        raise UnknownJob(f"no job has the id {job}")
    if found.wish == Wish.DELETE:
        raise Deleted(f"no job has the id {job}: it was deleted")
    return found


def identity_of(connection: Connection) -> str:
    """Return the id of the archive."""
    found: str = connection.execute(select(identity.c.id)).scalar_one()
    return found


def page_of(
    connection: Connection,
    limit: int,
    cursor: str | None,
    state: State | None,
    dead: bool = False,
) -> Page:
    """Return jobs, newest first: ids sort by time."""
    if limit < 1:
        raise StoreError(f"cannot list {limit} jobs; ask for one or more")
    wanted = select(jobs).where(there()).order_by(jobs.c.id.desc()).limit(limit + 1)
    if cursor is not None:
        wanted = wanted.where(jobs.c.id < cursor)
    if state is not None:
        wanted = wanted.where(jobs.c.state == str(state))
    if dead:
        wanted = wanted.where(jobs.c.dead)
    found = [to_job(row) for row in connection.execute(wanted)]
    return Page(found[:limit], found[limit - 1].id if len(found) > limit else None)


def records_of(connection: Connection, job: Row[Any], after: int, limit: int) -> Sequence[bytes]:
    """Return records after a number; about `PAGE_BYTES` of them at most, but one at least.

    In the place of those that were lost before the job was adopted stands what says so.
    """
    check(after, limit)
    found = [_lost(seq) for seq in range(after + 1, min(job.lost, after + limit) + 1)]
    if len(found) == limit:
        return found
    # Row by row, so that no more is read than is given.
    rows = connection.execution_options(yield_per=ROWS).scalars(
        select(records.c.record)
        .where(records.c.job == job.id, records.c.seq > max(after, job.lost))
        .order_by(records.c.seq)
        .limit(limit - len(found))
    )
    size = 0
    for text in rows:
        found.append(text.encode())
        size += len(found[-1])
        if size >= PAGE_BYTES:
            rows.close()
            break
    return found


def _lost(seq: int) -> bytes:
    note = "it was in an archive that was lost"
    told = {"seq": seq, "kind": "lost", "time": 0.0, "version": 0, "values": {}, "note": note}
    return json.dumps(told).encode()


def events_of(connection: Connection, job: str, after: int, limit: int) -> Sequence[LifecycleEvent]:
    """Return lifecycle events after a number."""
    check(after, limit)
    found = connection.execute(
        select(lifecycle)
        .where(lifecycle.c.job == job, lifecycle.c.number > after)
        .order_by(lifecycle.c.number)
        .limit(limit)
    )
    return [to_event(row) for row in found]


def attempts_at(connection: Connection, job: str) -> tuple[Sequence[Attempt], int]:
    """Return the attempts at a job, and the number of the last event that is told in them."""
    events = place_of(connection, job).events
    found = connection.execute(
        select(attempts).where(attempts.c.job == job).order_by(attempts.c.epoch)
    )
    return [to_attempt(row) for row in found], events


def positions_of(connection: Connection, wanted: Sequence[str]) -> Mapping[str, Position]:
    """Tell how far jobs are recorded."""
    found = connection.execute(
        select(jobs.c.id, jobs.c.seq, jobs.c.events).where(jobs.c.id.in_(wanted), there())
    )
    return {row.id: Position(row.seq, row.events) for row in found}


def states_of(connection: Connection, wanted: Sequence[str]) -> Mapping[str, State]:
    """Return the states of jobs."""
    found: dict[str, State] = {}
    for first in range(0, len(wanted), AT_ONCE):
        part = jobs.c.id.in_(wanted[first : first + AT_ONCE])
        rows = connection.execute(select(jobs.c.id, jobs.c.state).where(part, there()))
        found |= {row.id: State(row.state) for row in rows}
    return found


def unfinished_of(connection: Connection, after: str, limit: int) -> Sequence[str]:
    """Return ids of jobs that are not recorded as over, oldest first."""
    found = connection.scalars(
        select(jobs.c.id)
        .where(jobs.c.state.not_in(OVER), jobs.c.id > after, there())
        .order_by(jobs.c.id)
        .limit(limit)
    )
    return list(found)


def counts_of(connection: Connection) -> Mapping[State, int]:
    """Count jobs by state."""
    found = connection.execute(
        select(jobs.c.state, func.count()).where(there()).group_by(jobs.c.state)
    )
    return {State(row[0]): row[1] for row in found}


def check(after: int, limit: int) -> None:
    """Refuse places that no entry can have."""
    if limit < 1 or after < 0:
        raise StoreError(
            f"cannot read {limit} entries after number {after}; ask for one or more, after 0 or a "
            "later one"
        )

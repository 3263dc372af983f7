"""Reading the archive: jobs, records, lifecycle events."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, func, select

from driftfold_api.archive.base import Position
from driftfold_api.archive.rows import to_event, to_job
from driftfold_api.archive.tables import jobs, lifecycle, records
from driftfold_workers.job import Job, LifecycleEvent, State
from driftfold_workers.store import Page, StoreError, UnknownJob

OVER = tuple(str(state) for state in State if state.final)


def job_of(connection: Connection, job: str) -> Job:
    """Return a job."""
    found = (connection.execute(select(jobs).where(jobs.c.id == job))).one_or_none()
    if found is None:
        raise UnknownJob(f"no job has the id {job}")
    return to_job(found)


def page_of(connection: Connection, limit: int, cursor: str | None, state: State | None) -> Page:
    """Return jobs, newest first: ids sort by time."""
    if limit < 1:
        raise StoreError(f"cannot list {limit} jobs; ask for one or more")
    wanted = select(jobs).order_by(jobs.c.id.desc()).limit(limit + 1)
    if cursor is not None:
        wanted = wanted.where(jobs.c.id < cursor)
    if state is not None:
        wanted = wanted.where(jobs.c.state == str(state))
    found = [to_job(row) for row in connection.execute(wanted)]
    return Page(found[:limit], found[limit - 1].id if len(found) > limit else None)


def records_of(connection: Connection, job: str, after: int, limit: int) -> Sequence[bytes]:
    """Return records after a number."""
    check(after, limit)
    found = connection.scalars(
        select(records.c.record)
        .where(records.c.job == job, records.c.seq > after)
        .order_by(records.c.seq)
        .limit(limit)
    )
    return [text.encode() for text in found]


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


def positions_of(connection: Connection, wanted: Sequence[str]) -> Mapping[str, Position]:
    """Tell how far jobs are recorded."""
    found = connection.execute(
        select(jobs.c.id, jobs.c.seq, jobs.c.events).where(jobs.c.id.in_(wanted))
    )
    return {row.id: Position(row.seq, row.events) for row in found}


def unfinished_of(connection: Connection, after: str, limit: int) -> Sequence[str]:
    """Return ids of jobs that are not recorded as over, oldest first."""
    found = connection.scalars(
        select(jobs.c.id)
        .where(jobs.c.state.not_in(OVER), jobs.c.id > after)
        .order_by(jobs.c.id)
        .limit(limit)
    )
    return list(found)


def counts_of(connection: Connection) -> Mapping[State, int]:
    """Count jobs by state, which an index has."""
    found = connection.execute(select(jobs.c.state, func.count()).group_by(jobs.c.state))
    return {State(row[0]): row[1] for row in found}


def check(after: int, limit: int) -> None:
    """Refuse places that no entry can have."""
    if limit < 1 or after < 0:
        raise StoreError(
            f"cannot read {limit} entries after number {after}; ask for one or more, after 0 or a "
            "later one"
        )

"""Wishes: what users want done in the job store, kept until it was done."""

from collections.abc import Sequence

from sqlalchemy import Connection, case, delete, select, update

from driftfold_api.archive import unsent
from driftfold_api.archive.base import Wish
from driftfold_api.archive.pausing import PAUSED_LATER, RESUMED_LATER
from driftfold_api.archive.reading import OVER, job_of, there
from driftfold_api.archive.tables import attempts, idempotency, jobs, lifecycle, records
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import Conflict, UnknownJob

LATER = "it is canceled as soon as the job store answers"
PROMISES = (LATER, PAUSED_LATER, RESUMED_LATER)
SLICE = 5000  # rows that one transaction removes


def cancel(connection: Connection, job: str) -> Job:
    """Cancel a job that the job store cannot know; of any other keep the wish."""
    known = job_of(connection, job)
    if known.state.final:
        became = "was" if known.state is State.CANCELED else "has"
        raise Conflict(
            f"job {job} {became} {known.state}; only a job that is not over can be canceled"
        )
    if not unsent.move(connection, known, State.CANCELED, "canceled", sent=True):
        wish = {"wish": Wish.CANCEL, "state": str(State.CANCELING), "reason": LATER}
        connection.execute(update(jobs).where(jobs.c.id == job).values(**wish))
    return job_of(connection, job)


def send(connection: Connection, wanted: Sequence[str]) -> Sequence[str]:
    """Take note that the job store may know jobs from now on; return those it should know."""
    changed = update(jobs).where(jobs.c.id.in_(wanted), jobs.c.sent.is_(False))
    connection.execute(changed.values(sent=True))
    found = connection.scalars(
        select(jobs.c.id)
        .where(jobs.c.id.in_(wanted), jobs.c.state.not_in(OVER), there())
        .order_by(jobs.c.id)
    )
    return list(found)


def hide(connection: Connection, job: str) -> None:
    """Let a job be gone for all who ask; its rows go later."""
    gone = update(jobs).where(jobs.c.id == job, there())
    if not connection.execute(gone.values(wish=Wish.DELETE)).rowcount:
        raise UnknownJob(f"no job has the id {job}")
    connection.execute(delete(idempotency).where(idempotency.c.job == job))


def bury(connection: Connection, job: str) -> bool:
    """Remove some rows of a job that is hidden; whether there are more."""
    for table, number in ((records, records.c.seq), (lifecycle, lifecycle.c.number)):
        first = connection.execute(
            select(number).where(table.c.job == job).order_by(number).limit(1)
        ).scalar()
        if first is not None:
            slice_ = (table.c.job == job, number < first + SLICE)
            connection.execute(delete(table).where(*slice_))
            return True
    connection.execute(delete(attempts).where(attempts.c.job == job))
    connection.execute(delete(jobs).where(jobs.c.id == job, jobs.c.wish == Wish.DELETE))
    return False


def wishes(connection: Connection, limit: int) -> Sequence[tuple[str, Wish]]:
    """Return jobs of which something is wished, oldest first."""
    found = connection.execute(
        select(jobs.c.id, jobs.c.wish)
        .where(jobs.c.wish.is_not(None))
        .order_by(jobs.c.id)
        .limit(limit)
    )
    return [(row.id, Wish(row.wish)) for row in found]


def grant(connection: Connection, job: str, wish: Wish) -> None:
    """Forget what was wished of a job: it is done, or the job store knows of it."""
    done = update(jobs).where(jobs.c.id == job, jobs.c.wish == wish)
    # Where nothing was to be done, nothing is told that would take the place of the promise.
    reason = case((jobs.c.reason.in_(PROMISES), ""), else_=jobs.c.reason)
    connection.execute(done.values(wish=None, reason=reason))

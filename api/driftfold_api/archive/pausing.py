"""Pausing and resuming without a job store: what was never sent moves, else the wish is kept."""

from sqlalchemy import Connection, select, update

from driftfold_api.archive import unsent
from driftfold_api.archive.base import Wish
from driftfold_api.archive.reading import job_of
from driftfold_api.archive.tables import jobs, lifecycle
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import Conflict

PAUSED_LATER = "it is paused as soon as the job store answers"
RESUMED_LATER = "it is resumed as soon as the job store answers"
MOVABLE = (State.QUEUED, State.RUNNING, State.PAUSED)
NOTES = ("checkpoint", "diverged")
"""Lifecycle events that change nothing of whether a job is to be paused."""


def pause(connection: Connection, job: str) -> Job:
    """Pause a job that the job store cannot know; of any other keep the wish."""
    known = job_of(connection, job)
    if known.state not in MOVABLE or wish_of(connection, job) is Wish.CANCEL:
        raise _conflict(known, "only a job that is queued or runs can be paused")
    if known.state is State.QUEUED and unsent.move(connection, known, State.PAUSED, "paused"):
        return job_of(connection, job)
    return _keep(connection, job, Wish.PAUSE, PAUSED_LATER)


def resume(connection: Connection, job: str) -> Job:
    """Queue a paused job that the job store cannot know; of any other keep the wish."""
    known = job_of(connection, job)
    wish = wish_of(connection, job)
    pausing = wish is Wish.PAUSE or (wish is None and _was_asked_to_pause(connection, known))
    if known.state not in MOVABLE or not (known.state is State.PAUSED or pausing):
        raise _conflict(known, "only a paused job can be resumed")
    if known.state is State.PAUSED and unsent.move(connection, known, State.QUEUED, "unpaused"):
        return job_of(connection, job)
    return _keep(connection, job, Wish.RESUME, RESUMED_LATER)


def wish_of(connection: Connection, job: str) -> Wish | None:
    """Return what is wished of a job."""
    found = connection.execute(select(jobs.c.wish).where(jobs.c.id == job)).scalar()
    return None if found is None else Wish(found)


def _keep(connection: Connection, job: str, wish: Wish, reason: str) -> Job:
    """Keep a wish, the last one; one to cancel or delete the job, which may come first, stays."""
    stays = (Wish.CANCEL, Wish.DELETE)
    free = jobs.c.wish.is_(None) | jobs.c.wish.not_in(stays)
    mine = update(jobs).where(jobs.c.id == job, free)
    connection.execute(mine.values(wish=wish, reason=reason))
    return job_of(connection, job)


def _was_asked_to_pause(connection: Connection, job: Job) -> bool:
    """Whether a job that runs was, as far as is recorded, to be paused at the end of its round."""
    last = connection.execute(
        select(lifecycle.c.kind)
        .where(lifecycle.c.job == job.id, lifecycle.c.kind.not_in(NOTES))
        .order_by(lifecycle.c.number.desc())
        .limit(1)
    ).scalar()
    return job.state is State.RUNNING and last == "pause-requested"


def _conflict(job: Job, allowed: str) -> Conflict:
    if job.state.final:
        became = "was" if job.state is State.CANCELED else "has"
        return Conflict(f"job {job.id} {became} {job.state}; {allowed}")
    return Conflict(f"job {job.id} is {job.state}, as far as is recorded; {allowed}")

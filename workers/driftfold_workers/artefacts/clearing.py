"""Clearing up after a job that is over: its user's files stay, what only a run needs goes."""

import asyncio
import logging

from driftfold.errors import CheckpointError
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import JobStore, StoreError

log = logging.getLogger("driftfold.worker")


async def clear_up(runs: Runs, job: Job) -> bool:
    """Leave of a job that is over its artefacts and its last snapshot; raises nothing.

    One without a result leaves its specification, and the rounds that this snapshot has. Whoever
    brings a job to its end does this, after it was told so: until then somebody else may still
    need what goes. Returns False where it is to be tried again: files could not be reached.
    """
    try:
        await asyncio.to_thread(_clear_up, runs, job)
    except (OSError, CheckpointError) as error:
        log.warning("job %s: not all is cleared up: %s", job.id, error)
        return not isinstance(error, OSError)
    return True


async def clear_up_for_good(store: JobStore, runs: Runs, job: Job) -> None:
    """Clear up, and tell the store, so that nobody else does; raises nothing."""
    if await clear_up(runs, job):
        try:
            await store.cleared(job.id)
        except StoreError as error:  # then it is cleared up again, which changes nothing
            log.warning("job %s: it is cleared up, which cannot be told: %s", job.id, error)


def _clear_up(runs: Runs, job: Job) -> None:
    try:
        if job.state is not State.SUCCEEDED:
            runs.configure(job.id, job.spec)
            runs.gather(job.id, job.checkpoint)
    finally:
        runs.tidy(job.id, job.checkpoint, succeeded=job.state is State.SUCCEEDED)

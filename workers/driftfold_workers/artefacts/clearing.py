"""Clearing up after a job that is over: its user's files stay, what only a run needs goes."""

import asyncio
import logging

from driftfold.errors import CheckpointError
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.job import Job, State

log = logging.getLogger("driftfold.worker")


async def clear_up(runs: Runs, job: Job) -> None:
    """Leave of a job that is over its artefacts and its last snapshot; raises nothing.

    One without a result leaves its specification, and the rounds that this snapshot has. Whoever
    brings a job to its end does this, after it was told so: until then somebody else may still
    need what goes.
    """
    try:
        await asyncio.to_thread(_clear_up, runs, job)
    except (OSError, CheckpointError) as error:
        log.warning("job %s: not all is cleared up: %s", job.id, error)


def _clear_up(runs: Runs, job: Job) -> None:
    try:
        if job.state is not State.SUCCEEDED:
            runs.configure(job.id, job.spec)
            runs.gather(job.id, job.checkpoint)
    finally:
        runs.tidy(job.id, job.checkpoint, succeeded=job.state is State.SUCCEEDED)

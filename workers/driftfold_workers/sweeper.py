"""The sweeper: clears up after jobs whose worker ended them and died before it could."""

import asyncio
import logging

from driftfold_workers.artefacts.clearing import clear_up_for_good
from driftfold_workers.jobs.store import JobStore, StoreError, UnknownJob
from driftfold_workers.observing.logs import bound
from driftfold_workers.settings import Settings

log = logging.getLogger("driftfold.worker")

EVERY = 5.0  # seconds
MANY = 10  # jobs that are asked for at once
PAUSE = 60.0  # seconds after which one that could not be cleared up is tried again


async def sweep_forever(store: JobStore, settings: Settings) -> None:
    """Clear up after jobs that are over for a lease, again and again, until canceled.

    Every worker does so; the store names each job to one of them. It knows which they are, so no
    folder is looked at before there is something to clear. A job that is over never runs again,
    and one that tries it anew needs only what is left.
    """
    while True:
        found = 0
        try:
            jobs = await store.uncleared(MANY, PAUSE)
            found = len(jobs)
            for job in jobs:
                with bound(job=job):
                    await _sweep(store, settings, job)
        except StoreError as error:
            log.warning("nothing can be swept: %s", error)
        await asyncio.sleep(0.0 if found == MANY else EVERY)


async def _sweep(store: JobStore, settings: Settings, job: str) -> None:
    try:
        told = await store.get(job)
    except UnknownJob:  # it was deleted, and its folder goes with it
        return
    if told.state.final:
        log.info("job %s: its worker did not clear up after it", job)
        await clear_up_for_good(store, settings.runs, told)

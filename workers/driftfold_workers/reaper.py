"""The reaper: takes jobs back whose worker gave no sign for the length of a lease."""

import asyncio
import logging

from driftfold_workers.artefacts.clearing import clear_up_for_good
from driftfold_workers.jobs.store import JobStore, StoreError, StoreUnreachable
from driftfold_workers.observing.logs import bound
from driftfold_workers.settings import Settings

log = logging.getLogger("driftfold.worker")

EVERY = 0.5  # seconds


async def reap_forever(store: JobStore, settings: Settings) -> None:
    """Take back every job whose lease is over, again and again, until canceled.

    Every worker does so; the store lets each job be taken back once.
    """
    while True:
        pause = EVERY
        try:
            for job in await store.reap(settings.attempts):
                with bound(job=job):
                    log.warning("job %s: its worker gave no sign; taken back", job)
                    if (told := await store.get(job)).state.final:
                        await clear_up_for_good(store, settings.runs, told)
        except StoreError as error:
            log.warning("no job can be taken back: %s", error)
            if isinstance(error, StoreUnreachable):
                pause = settings.lease  # nobody could renew: each has its length once more
        await asyncio.sleep(pause)

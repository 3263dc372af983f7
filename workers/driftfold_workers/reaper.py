"""The reaper: takes jobs back whose worker gave no sign for the length of a lease."""

import asyncio
import logging

from driftfold_workers.store import JobStore, StoreError

log = logging.getLogger("driftfold.worker")

EVERY = 0.5  # seconds


async def reap_forever(store: JobStore, attempts: int) -> None:
    """Take back every job whose lease is over, again and again, until canceled.

    Every worker does so; the store lets each job be taken back once.
    """
    while True:
        try:
            for job in await store.reap(attempts):
                log.warning("job %s: its worker gave no sign; taken back", job)
        except StoreError as error:
            log.warning("no job can be taken back: %s", error)
        await asyncio.sleep(EVERY)

"""The keeper: of all processes of the API one fills the archive, as long as it holds a lease."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress

from driftfold_api.archive.base import Archive, Overtaken
from driftfold_api.recording.ownership import check_owner
from driftfold_api.recording.prerequisites import Prerequisites
from driftfold_api.recording.reconciler import GRACE, Reconciler
from driftfold_api.recording.recorder import Recorder
from driftfold_api.recording.referee import Referee
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.store import ForeignStore, StoreError
from driftfold_workers.redis_store import RedisJobStore

LEASE = 5.0  # seconds
EVERY = 0.3  # seconds between two steps of the recorder when there is little to record
RECONCILE_EVERY = 2.0  # seconds
RETIRE_EVERY = 60.0  # seconds
JUDGE_EVERY = 0.5  # seconds
DECIDE_EVERY = 0.5  # seconds between two looks at jobs that wait for others
REST = 1.0  # seconds after a failure

log = logging.getLogger("driftfold.api")


class Keeper:
    """Records, queues what was lost, and lets the job store forget: one of many does it.

    The lease keeps others from doing the same work; that none of them does harm with an old one is
    the archive's business, which takes no more from a recorder that was overtaken.

    Jobs that are over for `keep` seconds are deleted; None keeps them. What deleted jobs have left
    in `runs` is removed. `doubt` is called when the
    job store turns out to be another archive's.
    """

    def __init__(
        self,
        store: RedisJobStore,
        archive: Archive,
        *,
        lease: float = LEASE,
        every: float = EVERY,
        grace: float = GRACE,
        keep: float | None = None,
        runs: Runs | None = None,
        doubt: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = secrets.token_hex(8)
        self._window = store.window
        self._archive = archive
        self._recorder = Recorder(store.window, archive)
        self._reconciler = Reconciler(store, archive, grace=grace, runs=runs)
        self._prerequisites = Prerequisites(store.holding, archive)
        self._lease = lease
        self._every = every
        self._keep = keep
        self._doubt = doubt
        self._fence: int | None = None
        self._reconcile_at = 0.0
        self._retire_at = 0.0
        self._referee = Referee(store, archive)
        self._judge_at = 0.0
        self._decide_at = 0.0

    async def run(self) -> None:
        """Keep the archive until canceled."""
        told = ""
        try:
            while True:
                try:
                    pause = await self.step()
                    told = ""
                except StoreError as error:
                    if isinstance(error, ForeignStore):
                        self._doubt()
                    self._fence, pause = None, REST
                    if str(error) != told:  # once, not each second
                        told = str(error)
                        log.warning("nothing is recorded now: %s", error)
                await asyncio.sleep(pause)
        finally:
            with suppress(StoreError, TimeoutError):
                async with asyncio.timeout(REST):
                    await self._window.lead(self.name, 0.0)

    async def step(self) -> float:
        """Do what is due, if it is ours to do; return the seconds until there may be more."""
        await check_owner(self._window, self._archive)
        charge = await self._window.lead(self.name, self._lease)
        if charge == "another":
            self._fence = None
            return self._lease / 3
        if charge == "begins" or self._fence is None:
            self._fence = await self._archive.lead()
        try:
            more = await self._recorder.step(self._fence)
        except Overtaken:
            self._fence = None
            return self._lease / 3
        now = asyncio.get_running_loop().time()
        if now >= self._decide_at:
            self._decide_at = now + DECIDE_EVERY
            await self._prerequisites.step()
        if now >= self._reconcile_at:
            self._reconcile_at = now + RECONCILE_EVERY
            await self._reconciler.step()
            await self._reconciler.forget()
        if now >= self._judge_at:
            self._judge_at = now + JUDGE_EVERY
            await self._referee.step(self._fence)
        if now >= self._retire_at:
            clock = time.time()
            before = None if self._keep is None else clock - self._keep
            if not await self._archive.retire(before, clock):
                self._retire_at = now + RETIRE_EVERY
        return 0.0 if more else self._every

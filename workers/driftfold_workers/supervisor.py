"""The supervisor: one worker's slots, and the attempts that run in them."""

import asyncio
import logging
import time
from collections.abc import Coroutine, Sequence
from typing import Any

from driftfold_workers.attempts.attempt import PATIENCE, Attempt
from driftfold_workers.attempts.attempt_trace import AttemptTrace
from driftfold_workers.attempts.starter import Starter
from driftfold_workers.jobs.job import Claim
from driftfold_workers.jobs.needs import computes_with_torch
from driftfold_workers.jobs.store import JobStore, StoreError
from driftfold_workers.observing.logs import bind
from driftfold_workers.observing.tracing import UNTRACED, Tracer
from driftfold_workers.reaper import reap_forever
from driftfold_workers.settings import Settings
from driftfold_workers.stopping import stopped
from driftfold_workers.sweeper import sweep_forever

log = logging.getLogger("driftfold.worker")

WAIT = 30.0  # seconds of one request for a job
SIGNS = 3  # signs of life within the time that one lasts
RECOVERY = 1.0  # seconds that a slot rests when it could claim nothing, or start no process


class Supervisor:
    """Claims jobs for its slots and runs each in a process of its own.

    Its event loop does nothing that takes time, so no heartbeat is late however busy a run is.
    """

    def __init__(
        self,
        store: JobStore,
        kinds: Sequence[str],
        settings: Settings,
        starter: Starter,
        tracer: Tracer = UNTRACED,
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._settings = settings
        self._starter = starter
        self._tracer = tracer
        self._free = asyncio.Semaphore(settings.slots)
        self._attempts: set[Attempt] = set()
        self._running: set[asyncio.Task[None]] = set()
        self._draining = False
        self._heard = time.monotonic()

    @property
    def slots(self) -> int:
        """Attempts that run at the same time."""
        return self._settings.slots

    @property
    def busy(self) -> int:
        """Attempts that run now."""
        return len(self._running)

    @property
    def lease(self) -> float:
        """Seconds without a sign after which the worker is taken for lost."""
        return self._settings.lease

    @property
    def silence(self) -> float:
        """Seconds since the store took a sign of life, or since the worker began."""
        return time.monotonic() - self._heard

    async def run(self, drain: asyncio.Event) -> None:
        """Work until `drain` is set, then give all jobs back at the end of their rounds."""
        settings = self._settings
        background = [
            asyncio.create_task(self._announce(), name="signs of life"),
            asyncio.create_task(reap_forever(self._store, settings), name="reaper"),
            asyncio.create_task(sweep_forever(self._store, settings), name="sweeper"),
            asyncio.create_task(self._claim(), name="claims"),
        ]
        draining = asyncio.create_task(drain.wait(), name="drain")
        try:
            await asyncio.wait({draining, *background}, return_when=asyncio.FIRST_COMPLETED)
            for task in background:
                if task.done():
                    task.result()  # they end by failing only
        finally:
            self._draining = True
            await stopped(draining, *background)
            await self._drain()
            await self._say_goodbye()

    def kill(self) -> None:
        """End all attempts at once, and give their jobs back."""
        for attempt in self._attempts:
            attempt.kill()

    async def _claim(self) -> None:
        """Fill free slots for ever."""
        settings = self._settings
        while True:
            await self._free.acquire()
            try:
                await self._starter.ready()  # a job without a process has no heartbeat
                claim = await self._store.claim(
                    settings.name, self._kinds, settings.lease, wait=WAIT
                )
            except (StoreError, OSError) as error:
                log.warning("no job can be claimed: %s", error)
                await asyncio.sleep(RECOVERY)
                claim = None
            if claim is None:
                self._free.release()
            else:
                self._begin(self._attempt(claim))

    def _begin(self, attempt: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(attempt, name="attempt")
        self._running.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self._free.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("an attempt failed in its supervisor", exc_info=error)

    async def _attempt(self, claim: Claim) -> None:
        bind(job=claim.job.id, attempt=claim.job.attempt, epoch=claim.epoch)  # this task's alone
        try:
            torch = computes_with_torch(claim.job.needs)
            process = await self._starter.start(torch=torch)
        except OSError as error:  # no memory, no process numbers, no file descriptors left
            log.error("job %s: no process can be started: %s", claim.job.id, error)
            await self._give_back(claim, f"its worker could start no process: {error}")
            return
        trace = AttemptTrace(self._tracer, claim, self._settings.name)
        attempt = Attempt(self._store, claim, process, self._settings, trace)
        self._attempts.add(attempt)
        try:
            if self._draining:
                attempt.drain()
            await attempt.run()
        finally:
            self._attempts.discard(attempt)

    async def _give_back(self, claim: Claim, reason: str) -> None:
        try:
            await self._store.release(
                claim.job.id,
                claim.epoch,
                reason=reason,
                counted=False,
                attempts=self._settings.attempts,
                back_off=True,
                outcome="failed",
            )
        except StoreError as error:  # its lease will be over
            log.error("job %s: it cannot be given back: %s", claim.job.id, error)
        await asyncio.sleep(RECOVERY)

    async def _drain(self) -> None:
        for attempt in self._attempts:
            attempt.drain()
        if self._running:
            # With a store that does not answer there is nobody to give a job back to: its lease
            # will be over.
            await asyncio.wait(self._running, timeout=self._settings.lease + PATIENCE)
        await stopped(*self._running)

    async def _announce(self) -> None:
        settings = self._settings
        while True:
            try:
                await self._store.announce(
                    settings.name, self._kinds, settings.slots, settings.lease
                )
                self._heard = time.monotonic()
            except StoreError as error:
                log.warning("no sign of life can be given: %s", error)
            await asyncio.sleep(settings.lease / SIGNS)

    async def _say_goodbye(self) -> None:
        settings = self._settings
        try:
            await self._store.announce(settings.name, self._kinds, settings.slots, 0.0)
        except StoreError as error:
            log.warning("the worker cannot say that it goes: %s", error)

"""One attempt at a job, seen from the supervisor: from the claim to what became of it."""

import asyncio
import logging
import signal
from dataclasses import replace

from driftfold_workers.artefacts.clearing import clear_up_for_good
from driftfold_workers.artefacts.runs import attempt_name
from driftfold_workers.attempts.attempt_trace import AttemptTrace
from driftfold_workers.attempts.frames import FrameError
from driftfold_workers.attempts.insist import insist
from driftfold_workers.attempts.memory_kills import memory_kills
from driftfold_workers.attempts.messages import Begun, Done, Failed, Recorded, Saved, Stopped
from driftfold_workers.attempts.order import Order
from driftfold_workers.attempts.outbox import Batch, Outbox
from driftfold_workers.attempts.output import hand_over, output_file
from driftfold_workers.attempts.process import Process
from driftfold_workers.attempts.verdict import judge
from driftfold_workers.jobs.job import Claim
from driftfold_workers.jobs.store import Fenced, JobStore, StoreError, StoreUnreachable, UnknownJob
from driftfold_workers.jobs.usage import Meter, Usage, exceeded, memory_of
from driftfold_workers.observing.tracing import UNTRACED
from driftfold_workers.settings import Settings
from driftfold_workers.stopping import stopped

log = logging.getLogger("driftfold.worker")

BEAT = 0.25  # seconds: a cancellation is heard of this soon, and shorter leases still sooner
PATIENCE = 5.0  # seconds that a process has to stop before it is killed
LEFT_OPEN = 5.0  # seconds that its pipe may stay open after its end
IDLE = 30.0  # seconds without a process and without a write


class Attempt:
    """Feeds the log of a job from the process that runs it, and gives the job its next state.

    The store decides who runs a job: as soon as it says that this attempt was given up, the process
    is killed and nothing more is written.
    """

    def __init__(
        self,
        store: JobStore,
        claim: Claim,
        process: Process,
        settings: Settings,
        trace: AttemptTrace | None = None,
    ) -> None:
        self._store = store
        self._job = claim.job
        self._epoch = claim.epoch
        self._process = process
        self._settings = settings
        self._outbox = Outbox()
        self._checkpoint = claim.job.checkpoint
        self._end: Done | Failed | Stopped | None = None
        self._canceling = False
        self._pausing = False
        self._draining = False
        self._settling = False
        self._lost = False
        self._over = ""  # its limit
        self._meter = Meter(claim.job.used, process.pid)
        self._memory_kills = memory_kills()
        self._writes = 0
        self._stopping: asyncio.Task[None] | None = None
        self._trace = trace or AttemptTrace(UNTRACED, claim, settings.name)
        self._became = "lost", "another attempt runs the job, or nobody does"

    async def run(self) -> None:
        """See the attempt through to its end."""
        job, process = self._job, self._process
        log.info("job %s: attempt %d in process %d", job.id, job.attempt, process.pid)
        beating = asyncio.create_task(self._beat(), name=f"heartbeat of {job.id}")
        working = asyncio.create_task(self._work(), name=f"work at {job.id}")
        try:
            await asyncio.wait({beating, working}, return_when=asyncio.FIRST_COMPLETED)
            # Without a heartbeat there is nothing to write any more: the job is lost, or was.
            await asyncio.wait({working}, timeout=LEFT_OPEN + PATIENCE)
            for task in (beating, working):
                if task.done():
                    task.result()
        finally:
            process.kill()
            await stopped(beating, working, *([self._stopping] if self._stopping else []))
            self._trace.over(*self._became)
            await process.dismiss()

    def drain(self) -> None:
        """Stop at the end of the round and give the job back."""
        self._draining = True
        self._stop()

    def kill(self) -> None:
        """Stop at once and give the job back."""
        self._draining = True
        self._process.kill()

    async def _work(self) -> None:
        """Run the process, write down all that it tells, and what became of it."""
        sending = asyncio.create_task(self._send(), name=f"log of {self._job.id}")
        try:
            self._process.order(self._order())
            status = await self._listen()
            self._outbox.close()
            await sending
            await self._settle(status)
        except (Fenced, UnknownJob):
            pass  # the job is somebody else's now
        except StoreError as error:
            # Its lease will be over, and whoever takes the job back finds the log as it is.
            log.error("job %s: the attempt was given up: %s", self._job.id, error)
        finally:
            await stopped(sending)

    # -- the process ----------------------------------------------------------------------------

    def _order(self) -> Order:
        limits = self._job.terms.limits
        memory, hint = memory_of(self._settings.memory, limits.memory)
        return Order(
            job=self._job.id,
            epoch=self._epoch,
            spec=self._job.spec,
            checkpoint=self._job.checkpoint,
            runs=str(self._settings.runs),
            output=str(output_file(self._settings.runs, self._job.id, self._epoch)),
            plugins=self._settings.plugins,
            memory=memory,
            memory_hint=hint,
            cpu=None if limits.cpu is None else limits.cpu - self._job.used.cpu,
            data=self._settings.data,
        )

    async def _listen(self) -> int:
        """Take in all that the process says; return its exit status."""
        reading = asyncio.create_task(self._read(), name=f"pipe of {self._job.id}")
        exiting = asyncio.create_task(self._process.wait(), name=f"exit of {self._job.id}")
        try:
            await asyncio.wait({reading, exiting}, return_when=asyncio.FIRST_COMPLETED)
            # What a plug-in started may hold the pipe open; what it holds is not ours to read.
            self._outbox.lift_limit()
            await asyncio.wait({reading}, timeout=LEFT_OPEN)
            if reading.done():
                reading.result()
            return await self._ended(exiting)
        except FrameError as error:
            log.error("job %s: %s", self._job.id, error)
            self._end = Failed(f"the process sent what is no message: {error}", "", final=False)
            return await self._ended(exiting)
        finally:
            await stopped(reading, exiting)

    async def _read(self) -> None:
        async for message in self._process.messages():
            if isinstance(message, Recorded | Saved):
                await self._outbox.put(message)
            elif isinstance(message, Begun):
                self._meter.begin(message.cpu)
            elif self._end is None:
                self._meter.read()  # while it is there: of one that has ended nobody can tell
                self._end = message

    async def _ended(self, exiting: "asyncio.Task[int]") -> int:
        await asyncio.wait({exiting}, timeout=PATIENCE)
        self._process.kill()
        return await exiting

    def _stop(self) -> None:
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop_in_time(), name="stop")

    async def _stop_in_time(self) -> None:
        self._process.stop()
        await asyncio.sleep(PATIENCE)
        self._process.kill()

    # -- the store ------------------------------------------------------------------------------

    async def _beat(self) -> None:
        """Renew the lease for as long as the attempt lasts; hear whether it is wanted.

        An attempt without a process that gets nothing written, though the store answers, is over
        whatever holds it up: its lease must end, so that the job is tried again.
        """
        lease = self._settings.lease
        pause = min(lease / 3, BEAT)
        idle, writes = 0.0, 0
        while idle < IDLE:
            answered, used = True, self._meter.read()
            self._keep_limits(used)
            try:
                beat = await self._store.heartbeat(self._job.id, self._epoch, lease, used)
            except UnknownJob:
                beat = "lost"
            except StoreUnreachable:
                beat, answered = "ok", False  # nobody knows; perhaps the lease is over by then
            except StoreError as error:
                log.warning("job %s: no heartbeat: %s", self._job.id, error)
                beat = "ok"
            if beat == "lost":
                if not self._settling:  # else it is we who gave it up
                    self._lose()
                return
            if beat == "cancel":
                self._canceling = True
                self._stop()
            if beat == "pause" and not self._pausing:
                self._pausing = True
                self._process.stop()  # however long its round takes: nothing is to be lost
            if self._process.alive or writes != self._writes:
                idle, writes = 0.0, self._writes
            elif answered:
                idle += pause
            await asyncio.sleep(pause)
        log.error("job %s: its process has ended, but nothing more gets written", self._job.id)

    def _keep_limits(self, used: Usage) -> None:
        """End the process of a job that has used up what it may."""
        if not self._over and self._process.alive:
            self._over = exceeded(self._job.terms.limits, used)
            if self._over:
                self._process.kill()

    async def _send(self) -> None:
        """Append what the process tells to the log of the job, in order."""
        try:
            while (batch := await self._outbox.batch()) is not None:
                await insist(lambda batch=batch: self._append(batch))  # type: ignore[misc]
                if batch.checkpoint is not None:
                    self._process.confirm(batch.checkpoint)
                await self._outbox.gather()
        except (Fenced, UnknownJob):
            self._lose()
            raise
        except Exception as error:
            unexpected = None if isinstance(error, StoreError) else error
            log.error(
                "job %s: its records are refused: %s", self._job.id, error, exc_info=unexpected
            )
            self._end = Failed(str(error), "", final=False)
            self._outbox.lift_limit()
            self._process.kill()

    async def _append(self, batch: Batch) -> None:
        pointer = None
        if batch.checkpoint is not None:
            pointer = f"{attempt_name(self._job.id, self._epoch)}:{batch.checkpoint}"
        await self._store.append(
            self._job.id,
            self._epoch,
            batch.first,
            batch.lines,
            checkpoint=pointer,
            rounds=batch.rounds,
        )
        self._writes += 1
        self._trace.wrote(len(batch.lines), batch.rounds)
        self._checkpoint = pointer or self._checkpoint

    def _lose(self) -> None:
        if not self._lost:
            log.warning("job %s: attempt %d lost its job", self._job.id, self._job.attempt)
        self._lost = True
        self._outbox.lift_limit()
        self._process.kill()

    async def _settle(self, status: int) -> None:
        """Tell the store what became of the attempt."""
        job, store = self._job.id, self._store
        self._settling = True
        if isinstance(self._end, Failed):
            log.warning("job %s: %s\n%s", job, self._end.reason, self._end.trace)
        asked = {"canceling": self._canceling, "pausing": self._pausing}
        if status == -signal.SIGXCPU and not self._over:
            limit = replace(self._job.terms.limits, wall=None)
            # The system ends a process two seconds beyond it, where nobody else has.
            self._over = exceeded(limit, Usage(cpu=(limit.cpu or 0.0) + 2.0))
        starved = self._memory_kills is not None and self._memory_kills != memory_kills()
        verdict = judge(
            self._end,
            status,
            **asked,
            draining=self._draining,
            over=self._over,
            starved=starved,
        )
        reason, outcome, used = verdict.reason, verdict.outcome, self._meter.read()
        telling = self._trace.finishing()
        if (final := verdict.state) is not None:
            await insist(
                lambda: store.finish(
                    job,
                    self._epoch,
                    final,
                    reason=reason,
                    result=verdict.result,
                    outcome=outcome,
                    used=used,
                )
            )
            state = final
        else:
            state = await insist(
                lambda: store.release(
                    job,
                    self._epoch,
                    counted=verdict.counted,
                    attempts=self._settings.attempts,
                    reason=reason,
                    back_off=verdict.back_off,
                    outcome=outcome,
                    used=used,
                )
            )
        telling.end({"state": str(state)})
        self._became = verdict.outcome, verdict.reason if verdict.counted else ""
        how = f"attempt {self._job.attempt}: {verdict.outcome}"
        log.info("job %s: %s; the job is %s", job, how, state)
        if state.final:
            over = replace(self._job, state=state, checkpoint=self._checkpoint)
            await clear_up_for_good(store, self._settings.runs, over)
        await self._hand_over_output()

    async def _hand_over_output(self) -> None:
        try:
            await asyncio.to_thread(hand_over, self._settings.runs, self._job.id, self._epoch)
        except OSError as error:
            log.warning("job %s: its output stays on this machine: %s", self._job.id, error)

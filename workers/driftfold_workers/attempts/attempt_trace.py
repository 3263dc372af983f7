"""The trace of an attempt: its wait in the queue, its rounds in stretches of time, its end."""

import time
from collections.abc import Callable

from driftfold_workers.jobs.job import Claim
from driftfold_workers.observing.tracing import Facts, Span, Tracer

STRETCH = 1.0  # seconds of rounds in one span, at first
MANY = 60  # spans after which the next ones are twice as long


class AttemptTrace:
    """Spans of one attempt, under the one that submitted its job.

    A span for each round would be millions. A stretch of rounds lasts a second, after a minute two,
    after three minutes four and so on: a day of rounds has some six hundred spans.
    """

    def __init__(
        self, tracer: Tracer, claim: Claim, worker: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._tracer = tracer
        self._clock = clock
        self._length = STRETCH
        self._stretches = 0
        self._stretch: Span | None = None
        self._records = 0
        job, now = claim.job, clock()
        if claim.epoch == 1:  # of later ones it is not known since when they waited
            since = min(max(job.created, job.terms.not_before or 0.0), now)
            about: Facts = {"job": job.id, "priority": job.terms.priority}
            tracer.begin("queue", job.terms.trace, about, at=since).end(at=now)
        self.span = tracer.begin(
            "attempt",
            job.terms.trace,
            {
                "job": job.id,
                "attempt": job.attempt,
                "epoch": claim.epoch,
                "worker": worker,
                "resumed": job.checkpoint is not None,
            },
            at=now,
        )
        self._until = self._from = now

    def wrote(self, records: int, rounds: int | None) -> None:
        """Take note that records are in the log, and how many rounds it has now."""
        now = self._clock()
        if self._stretch is None:
            self._stretch = self._tracer.begin("rounds", self.span.context, at=self._from)
            self._until, self._records = self._from + self._length, 0
        self._records += records
        if now >= self._until:
            self._close(now, rounds)

    def _close(self, now: float, rounds: int | None) -> None:
        if self._stretch is None:
            return
        reached = {} if rounds is None else {"rounds": rounds}
        self._stretch.end({"records": self._records, **reached}, at=now)
        self._stretch, self._from = None, now
        self._stretches += 1
        if self._stretches % MANY == 0:
            self._length *= 2

    def finishing(self) -> Span:
        """Begin the span in which the job store is told what became of the attempt."""
        self._close(self._clock(), None)
        return self._tracer.begin("finish", self.span.context)

    def over(self, outcome: str, reason: str = "") -> None:
        """End the attempt. With a reason it went wrong."""
        self._close(self._clock(), None)
        self.span.end({"outcome": outcome}, problem=reason)

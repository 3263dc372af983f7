"""The recorder: numbers what a run tells, keeps its digests, and passes it on."""

from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from driftfold.errors import RecordError
from driftfold.telemetry.base import Record, RecordSink
from driftfold.telemetry.digest import RecordDigest
from driftfold.telemetry.metrics import plain_numbers

TRAINING = ("round", "fault")
"""Kinds of records that the metrics digest covers: what training did, not how it was watched."""


class Recorder:
    """Numbers records 1, 2, 3, ..., digests them and hands each to every sink.

    Two digests, so that looking more often never changes what is compared: `metrics_digest`
    covers the records of kinds "round" and "fault", `evaluation_digest` those of kind
    "evaluation". Both ignore the records' numbers, timing, notes and detail.

    >>> recorder = Recorder()
    >>> recorder.emit("round", 2.5, 1, {"responders": 7}).seq
    1
    >>> trained = recorder.metrics_digest
    >>> recorder.emit("evaluation", 2.5, 1, {"gap": 0.5}).seq
    2
    >>> recorder.metrics_digest == trained
    True
    """

    def __init__(self, *sinks: RecordSink) -> None:
        self._sinks = sinks
        self._seq = 0
        self._metrics = RecordDigest()
        self._evaluations = RecordDigest()

    @property
    def seq(self) -> int:
        """Number of the latest record; 0 before the first."""
        return self._seq

    @property
    def metrics_digest(self) -> str:
        """Digest of the training records so far, 32 hexadecimal digits."""
        return self._metrics.hex()

    @property
    def evaluation_digest(self) -> str:
        """Digest of the evaluation records so far, 32 hexadecimal digits."""
        return self._evaluations.hex()

    def emit(
        self,
        kind: str,
        time: float,
        version: int,
        values: Mapping[str, Any],
        *,
        timing: Mapping[str, Any] | None = None,
        note: str = "",
        detail: Mapping[str, Any] | None = None,
    ) -> Record:
        """Tell one record, at virtual time `time` (s) and after server step `version`.

        Raises `RecordError` when a value is not a number or a sink cannot keep the record.
        """
        record = Record(
            seq=self._seq + 1,
            kind=kind,
            time=float(time),
            version=int(version),
            values=plain_numbers(values),
            timing=plain_numbers(timing or {}),
            note=note,
            detail=detail,
        )
        for sink in self._sinks:
            sink.emit(record)
        self._seq = record.seq
        if kind in TRAINING:
            self._metrics.add(record)
        elif kind == "evaluation":
            self._evaluations.add(record)
        return record

    def state(self) -> dict[str, Any]:
        """Return the position in the log, ready for JSON, for a snapshot."""
        return {
            "seq": self._seq,
            "metrics_digest": self.metrics_digest,
            "evaluation_digest": self.evaluation_digest,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue exactly after `state`; the sinks forget what came after it."""
        try:
            seq = int(state["seq"])
            metrics = RecordDigest(state["metrics_digest"])
            evaluations = RecordDigest(state["evaluation_digest"])
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(
                f"cannot continue a log from {state!r}; give what Recorder.state() returned"
            ) from error
        for sink in self._sinks:
            sink.rewind(seq)
        self._seq, self._metrics, self._evaluations = seq, metrics, evaluations

    def sync(self) -> None:
        """Make every sink durable up to the present record; call it before saving a snapshot."""
        for sink in self._sinks:
            sink.sync()

    def checkpointed(self, name: str) -> None:
        """Tell every sink that a snapshot of the present position is stored under `name`."""
        for sink in self._sinks:
            sink.checkpointed(name, self._seq)

    def close(self) -> None:
        """Close every sink, also when closing one of them fails."""
        with ExitStack() as stack:
            for sink in reversed(self._sinks):
                stack.callback(sink.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

"""Records: what a run tells, one at a time, numbered without gaps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Record:
    """One numbered statement about a run.

    Attributes
    ----------
    seq
        1, 2, 3, ... without gaps.
    kind
        "round", "evaluation", "fault", "checkpoint" or "end".
    time
        Virtual time in seconds.
    version
        Server version after the step that the record is about.
    values
        Metric name to value: what repeats bit for bit.
    timing
        Wall and CPU seconds: what does not.
    note
        Free text, for faults.
    detail
        Per-client arrays by name; sinks store them beside the record.
    """

    seq: int
    kind: str
    time: float
    version: int
    values: Mapping[str, float] = field(default_factory=dict)
    timing: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    detail: Mapping[str, Any] | None = None


class RecordSink(ABC):
    """Where records go. A sink never changes the run: it schedules no events, draws no numbers."""

    @abstractmethod
    def emit(self, record: Record) -> None:
        """Take one record; raise `RecordError` when it cannot be kept."""

    def rewind(self, seq: int) -> None:
        """Forget every record after `seq`: a resumed run will tell them again."""
        return

    def sync(self) -> None:
        """Make durable what was told so far: a snapshot is about to name its position."""
        return

    def checkpointed(self, name: str, seq: int) -> None:
        """Learn that snapshot `name` is stored: the run can go on from it after record `seq`."""
        return

    def close(self) -> None:
        """Flush what is buffered."""
        return

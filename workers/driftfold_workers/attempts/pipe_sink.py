"""The sink at the child's end of the pipe: records go out as they are told."""

import os

from driftfold.errors import RecordError
from driftfold.telemetry.base import Record, RecordSink
from driftfold.telemetry.json_form import to_line
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts.frames import write_frame
from driftfold_workers.attempts.messages import Message, Recorded, Saved, to_frame
from driftfold_workers.attempts.rhythm import Rhythm


class PipeSink(RecordSink):
    """Writes records and news of snapshots to a pipe; per-client detail to the job's folder.

    It waits while the pipe is full: a slow job store slows the run, and nothing piles up.
    """

    def __init__(self, pipe: int, runs: Runs, job: str, rhythm: Rhythm) -> None:
        self._pipe = pipe
        self._runs = runs
        self._job = job
        self._rhythm = rhythm

    def emit(self, record: Record) -> None:
        """Send one record."""
        name = None
        if record.detail is not None:
            try:
                name = self._runs.keep_detail(self._job, record.seq, record.detail)
            except OSError as error:
                raise RecordError(
                    f"cannot keep the detail of record {record.seq} in {self._runs.of(self._job)}: "
                    f"{error.strerror}; free some space, or give the workers a folder of runs that "
                    "can be written"
                ) from error
        send(self._pipe, Recorded(record.seq, record.version, to_line(record, name).rstrip()))

    def sync(self) -> None:
        """Take note that a snapshot follows; the supervisor names it only after the records."""
        self._rhythm.saving()

    def checkpointed(self, name: str, seq: int) -> None:
        """Send the name of a snapshot."""
        send(self._pipe, Saved(name, seq))
        self._rhythm.saved()


def send(pipe: int, message: Message) -> None:
    """Send a message. With nobody left to read it there is no point in going on: exits."""
    try:
        write_frame(pipe, to_frame(message))
    except BrokenPipeError:
        os._exit(1)

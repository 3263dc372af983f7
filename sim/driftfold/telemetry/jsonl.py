"""Records as lines of JSON in a run's folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from driftfold.errors import RecordError
from driftfold.telemetry.base import Record, RecordSink
from driftfold.telemetry.detail import detail_name, remove_details_after, write_detail
from driftfold.telemetry.json_form import to_line
from driftfold.telemetry.reader import LOG, check_line


class JsonLines(RecordSink):
    """Appends each record to `records.jsonl` in `folder`, and its detail to `clients/<seq>.npz`.

    Each line is one write that leaves the process at once, so a killed run loses at most the line
    it was writing; `sync` also survives the loss of power. The folder is made at the first
    record. It belongs to one run: a log that is already there is only continued after `rewind`.

    >>> import tempfile
    >>> from driftfold.telemetry.reader import read_records
    >>> folder = Path(tempfile.mkdtemp())
    >>> sink = JsonLines(folder)
    >>> sink.emit(Record(1, "round", 2.5, 1, {"loss": float("nan")}))
    >>> print((folder / "records.jsonl").read_text().strip())
    {"seq":1,"kind":"round","time":2.5,"version":1,"values":{"loss":"NaN"}}
    >>> read_records(folder)[0].values
    {'loss': nan}
    >>> sink.close()
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = -1  # descriptor of the open log
        self._seq = 0  # records in it
        self._end = 0  # its length in bytes
        self._first_loose = 0  # first record whose detail `sync` has not yet seen, 0 if none

    def emit(self, record: Record) -> None:
        """Append one record; raises `RecordError` if it cannot be kept or is out of order."""
        with self._clear_errors("write"):
            opened = self._file < 0
            if opened:
                self._open()
            if record.seq != self._seq + 1:
                raise RecordError(
                    f"{self._log} holds {self._seq} records, so record {record.seq} cannot follow; "
                    "resume that run, or give this one a folder of its own"
                )
            if opened:
                os.ftruncate(self._file, self._end)  # a killed writer may have left half a line
            name = None
            if record.detail is not None:
                name = write_detail(self.folder, record.seq, record.detail)
                self._first_loose = self._first_loose or record.seq
            self._append(to_line(record, name))
        self._seq = record.seq

    def rewind(self, seq: int) -> None:
        """Cut the log right after record `seq` and remove the later records' detail.

        Reads the log once, line by line. Raises `RecordError` when it ends before `seq`.
        """
        with self._clear_errors("rewind"):
            self.close()
            self._open(upto=seq)
            if self._seq < seq:
                raise RecordError(
                    f"{self._log} ends at record {self._seq}, but the run continues after "
                    f"{seq}; resume in the folder where the run was started, or start anew"
                )
            os.ftruncate(self._file, self._end)
            remove_details_after(self.folder, seq)

    def sync(self) -> None:
        """Make all records and their detail survive a loss of power."""
        if self._file < 0:
            return
        with self._clear_errors("write"):
            if self._first_loose:
                for seq in range(self._first_loose, self._seq + 1):
                    _sync_file(self.folder / detail_name(seq))
            os.fsync(self._file)
            self._first_loose = 0

    def close(self) -> None:
        """Close the log; a later record opens it again."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def _log(self) -> Path:
        return self.folder / LOG

    def _open(self, upto: float = float("inf")) -> None:
        """Open the log after its whole lines, of which it keeps at most `upto`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._seq, self._end, last = 0, 0, b""
        with self._log.open("rb") as written:
            for line in written:
                if self._seq >= upto or not line.endswith(b"\n"):
                    break
                self._seq += 1
                self._end += len(line)
                last = line
        check_line(self._log, self._seq, last)

    def _append(self, line: bytes) -> None:
        left = memoryview(line)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            os.ftruncate(self._file, self._end)  # leave no half a line behind
            raise
        self._end += len(line)

    @contextmanager
    def _clear_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecordError(
                f"cannot {what} the records of the run in {self.folder}: {error.strerror}; "
                "free some space, or give a folder that can be written"
            ) from error


def _sync_file(path: Path) -> None:
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return  # not every record has detail
    try:
        os.fsync(file)
    finally:
        os.close(file)

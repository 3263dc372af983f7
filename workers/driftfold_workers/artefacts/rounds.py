"""The rounds of a run as columns: kept with its snapshots, and a table once it is over.

Whoever goes on with a run from a snapshot has with it all rounds before, so the process that comes
to the end has them all, however many attempts there were; each is there once, because a snapshot
is either the one that a run goes on from or nothing.
"""

import shutil
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Any

import numpy as np

from driftfold.arrays import Array, Bools
from driftfold.checkpoint.base import Snapshot
from driftfold.errors import CheckpointError
from driftfold.files import Files
from driftfold.npz import read_npz, write_npz
from driftfold.parquet import Kind, ParquetWriter
from driftfold.telemetry.base import Record, RecordSink

PART = 4096  # rounds that a snapshot carries with it at most; more go into a file of their own
KEPT = "rounds"
POSITION: Mapping[str, Kind] = {"seq": "int64", "version": "int64", "time": "float64"}
METRIC, ROWS = "metric/", "rows/"


@dataclass
class Column:
    """The values of a metric, and in which rows they are."""

    rows: "array[int]" = field(default_factory=lambda: array("q"))
    values: "array[float]" = field(default_factory=lambda: array("d"))


class Rounds(RecordSink):
    """Gathers the records of kind "round".

    Parameters
    ----------
    files
        Where parts of long runs are kept.
    attempt
        Name of the attempt, which no other one has.
    """

    def __init__(self, files: Files, attempt: str) -> None:
        self._files = files
        self._attempt = attempt
        self._parts: list[str] = []
        self._metrics: dict[str, None] = {}  # a set that keeps its order
        self._columns: dict[str, Column]
        self._clear()

    def emit(self, record: Record) -> None:
        """Take the values of a round."""
        if record.kind != "round":
            return
        row = len(self._seq)
        self._seq.append(record.seq)
        self._version.append(record.version)
        self._time.append(record.time)
        for name, value in record.values.items():
            column = self._columns.get(name)
            if column is None:
                column = self._columns[name] = Column()
                self._metrics[name] = None
            column.rows.append(row)
            column.values.append(value)

    def kept_in(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot with all rounds so far, for those that come after this attempt."""
        if len(self._seq) >= PART:
            arrays = self._arrays()
            name = f"{KEPT}/{self._attempt}-{self._seq[0]:012d}.npz"
            self._files.put(name, lambda file: write_npz(file, arrays))
            self._parts.append(name)
            self._clear()
        meta = {"parts": list(self._parts), "metrics": list(self._metrics)}
        tail = {f"{KEPT}/{name}": values for name, values in self._arrays().items()}
        return replace(
            snapshot, meta={**snapshot.meta, KEPT: meta}, arrays={**snapshot.arrays, **tail}
        )

    def go_on_from(self, snapshot: Snapshot, source: Files | None = None) -> None:
        """Take over the rounds that a snapshot carries; `CheckpointError` if it has none.

        If it is another job's, `source` has that one's files, of which parts are copied.
        """
        meta = snapshot.meta.get(KEPT)
        if meta is None:
            raise CheckpointError("the snapshot was taken by a version that kept no rounds with it")
        self._parts = list(meta["parts"])
        if source is not None:
            for name in self._parts:
                self._copy(name, source)
        self._metrics = dict.fromkeys(meta["metrics"])
        prefix = f"{KEPT}/"
        tail = {
            name.removeprefix(prefix): values
            for name, values in snapshot.arrays.items()
            if name.startswith(prefix)
        }
        self._seq, self._version = array("q", tail["seq"]), array("q", tail["version"])
        self._time = array("d", tail["time"])
        everywhere = range(len(self._seq))
        self._columns = {
            name: Column(array("q", tail.get(ROWS + name, everywhere)), array("d", values))
            for name in self._metrics
            if (values := tail.get(METRIC + name)) is not None
        }

    def write_table(self, file: IO[bytes]) -> None:
        """Write all rounds as a Parquet file: position, then a column for each metric.

        A metric that a round does not tell is absent from its row; one that is NaN is NaN.
        """
        names = {metric: _free(metric) for metric in self._metrics}
        metrics: dict[str, Kind] = dict.fromkeys(names.values(), "float64")
        writer = ParquetWriter(file, {**POSITION, **metrics})
        for arrays in self._all():
            rows = len(arrays["seq"])
            values: dict[str, tuple[Array, Bools | None]] = {
                name: (arrays[name], None) for name in POSITION
            }
            for metric, name in names.items():
                if METRIC + metric in arrays:
                    there = _there(rows, arrays.get(ROWS + metric))
                    values[name] = (arrays[METRIC + metric], there)
            writer.write(rows, values)
        writer.close()

    def _copy(self, name: str, source: Files) -> None:
        try:
            with source.open(name) as part:
                self._files.put(name, lambda file: shutil.copyfileobj(part, file))
        except OSError as error:
            raise CheckpointError(f"rounds before the snapshot are gone: {error}") from error

    def _all(self) -> Iterator[Mapping[str, Any]]:
        for name in self._parts:
            with self._files.open(name) as file:
                yield read_npz(file)[0]
        if self._seq:
            yield self._arrays()

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {
            "seq": np.array(self._seq, np.int64),
            "version": np.array(self._version, np.int64),
            "time": np.array(self._time, np.float64),
        }
        for name, column in self._columns.items():
            arrays[METRIC + name] = np.array(column.values, np.float64)
            if len(column.rows) < len(self._seq):
                arrays[ROWS + name] = np.array(column.rows, np.int64)
        return arrays

    def _clear(self) -> None:
        self._seq, self._version, self._time = array("q"), array("q"), array("d")
        self._columns = {}


def _there(rows: int, where: Array | None) -> Bools | None:
    if where is None:
        return None
    there = np.zeros(rows, bool)
    there[where] = True
    return there


def _free(metric: str) -> str:
    """Return the name of a metric's column, which is not that of a position.

    >>> _free("gap"), _free("time")
    ('gap', 'time (metric)')
    """
    return f"{metric} (metric)" if metric in POSITION else metric

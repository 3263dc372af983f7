"""Orders: what a supervisor tells the process of an attempt to do."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Order:
    """One attempt at a job.

    Attributes
    ----------
    job, epoch
        Which attempt of which job.
    spec
        The specification as a table.
    checkpoint
        Snapshot to go on from, as "<run>:<name>", or None to begin.
    runs
        Where artefacts and snapshots go: a folder, or a URL.
    output
        File to which the process prints.
    plugins
        Plug-ins to load first.
    memory
        Bytes of address space that the process may use, or None.
    data
        Folders in which the specification may name files.
    cpu
        Seconds of CPU that the run may use, or None.
    memory_hint
        What to tell a user whose run has met the limit on memory.
    """

    job: str
    epoch: int
    spec: Mapping[str, Any]
    checkpoint: str | None
    runs: str
    output: str
    plugins: tuple[str, ...] = ()
    memory: int | None = None
    data: tuple[str, ...] = ()
    cpu: float | None = None
    memory_hint: str = ""

    def to_line(self) -> bytes:
        """Return the order as one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> "Order":
        """Return the order in a line."""
        table = json.loads(line)
        return cls(**{**table, "plugins": tuple(table["plugins"]), "data": tuple(table["data"])})

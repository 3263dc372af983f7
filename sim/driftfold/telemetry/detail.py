"""Per-client detail of a record, in a file of its own beside the log."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from driftfold.errors import RecordError
from driftfold.npz import read_npz, write_npz

FOLDER = "clients"


def detail_name(seq: int) -> str:
    """Return the name of the detail of record `seq`, relative to the run's folder."""
    return f"{FOLDER}/{seq}.npz"


class DetailFile(Mapping[str, Any]):
    """The arrays of one detail file, by name; read when first looked at.

    Raises `RecordError` at that moment when the file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        try:
            with self.path.open("rb") as file:
                return read_npz(file)[0]
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise RecordError(
                f"cannot read the per-client detail {self.path}: {error}; "
                "resume the run from a snapshot to have it written again"
            ) from error

    def __getitem__(self, name: str) -> Any:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def write_detail(folder: Path, seq: int, arrays: Mapping[str, Any]) -> str:
    """Write the detail of record `seq`, whole or not at all; return its name."""
    name = detail_name(seq)
    path = folder / name
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(exist_ok=True)
        with part.open("wb") as file:
            write_npz(file, arrays)
        part.replace(path)
    except ValueError as error:
        part.unlink(missing_ok=True)
        raise RecordError(
            f"cannot keep the detail of record {seq}: {error}; detail holds numeric arrays only"
        ) from error
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return name


def remove_details_after(folder: Path, seq: int) -> None:
    """Remove the detail of every record after `seq`, and what a killed writer left unfinished."""
    try:
        with os.scandir(folder / FOLDER) as entries:
            for entry in entries:
                stem, _, suffix = entry.name.partition(".")
                if stem.isdigit() and (suffix == "part" or int(stem) > seq):
                    Path(entry.path).unlink()
    except FileNotFoundError:
        return  # a run without detail has no such folder

"""`driftfold plot`: runs of several folders in one picture."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from driftfold.folder import SPEC
from driftfold.telemetry.base import Record
from driftfold.telemetry.reader import read_records
from driftfold_api.errors import RequestError
from driftfold_api.plots import plot_runs


def plot_folders(folders: Sequence[Path], metric: str | None, out: Path | None) -> None:
    """Draw the runs; those that differ only in their seed become one line with a band."""
    arms: dict[str, list[Sequence[Record]]] = {}
    names: dict[str, str] = {}
    for folder in folders:
        identity, name = _arm(folder)
        names.setdefault(identity, _free(name, names.values()))
        arms.setdefault(names[identity], []).append(read_records(folder))
    typer.echo(str(plot_runs(arms, out or Path("plot.png"), metric)))


def _arm(folder: Path) -> tuple[str, str]:
    """Return what runs of different seeds share, and what to call it."""
    try:
        table: Any = json.loads((folder / SPEC).read_text(encoding="utf-8"))
        name = str(table.pop("name", "")) or folder.name
        table.pop("seed", None)
    except (OSError, ValueError, AttributeError):
        raise RequestError(
            f"{folder}: not the folder of a run: it has no sound {SPEC}; give folders that "
            "`driftfold run` has written"
        ) from None
    return json.dumps(table, sort_keys=True), name


def _free(name: str, taken: Any) -> str:
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name} ({number})"
    return free

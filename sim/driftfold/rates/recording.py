"""What an earlier run recorded of its clients' rates."""

import json
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.errors import DataError
from driftfold.telemetry.reader import each_record

VARIABLE = "DRIFTFOLD_RUNS"
"""Folders in which runs are looked for, and two levels below, separated as in PATH."""


@lru_cache(maxsize=8)
def recorded_rates(run: str) -> tuple[Ints, Ints, Floats]:
    """Clients, steps and rates that the run with the specification's digest `run` recorded.

    One entry for each client and step, in the order of the record, shape (m,) each. Raises
    `DataError` where the run is not found, is not finished, or recorded no rates or several a step.
    """
    folder = _folder_of(run)
    parts: dict[tuple[int, int], float] = {}
    for record in each_record(folder):
        told = record.detail
        if record.kind != "round" or told is None:
            continue
        client, step, rate = (_column(told, name) for name in ("client", "step", "rate"))
        if step is None or rate is None or client is None:
            continue
        for c, t, r in zip(client.tolist(), step.tolist(), rate.tolist(), strict=True):
            if parts.setdefault((c, t), r) != r:
                raise DataError(
                    f"client {c} of the run {run} in {folder} had more than one rate at step {t}, "
                    "and a recorded rate is one a step; name a run whose rates stay over the "
                    'rounds of a step (signal_every = "step")'
                )
    if not parts:
        raise DataError(
            f"the run {run} in {folder} recorded no rates; name one of algorithm 'fedade'"
        )
    places = np.array(list(parts), dtype=np.int64)
    return places[:, 0], places[:, 1], np.array(list(parts.values()))


def _column(told: Mapping[str, Floats], name: str) -> Floats | None:
    """A figure of the first exchange: its name may carry the number of the phase."""
    return told[name] if name in told else told.get(f"0.{name}")


def _folder_of(run: str) -> Path:
    roots = [Path(root) for root in os.environ.get(VARIABLE, "").split(os.pathsep) if root]
    for folder in (folder for root in roots for folder in _runs_below(root)):
        try:
            result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if result.get("spec_digest") == run:
            return folder
    looked = ", ".join(map(str, roots)) or "no folder"
    raise DataError(
        f"no finished run with the digest {run} was found; looked in {looked}. Run that experiment "
        f"into a folder, and name the folder in the environment variable {VARIABLE}"
    )


def _runs_below(root: Path) -> Iterator[Path]:
    yield root
    for pattern in ("*/result.json", "*/*/result.json"):
        yield from (file.parent for file in sorted(root.glob(pattern)))

"""A study whose cells take a second or two each, and the command that runs it, to be killed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from driftfold.studies import Arm, Experiment, Study
from driftfold.studies.cells import Cell, Form, grid
from tests.modules import ROOT
from tests.workers.workers import alive, children_of

SETTINGS = ("horizon.rounds=400", "evaluate_every=40", "checkpoint_every=20")

LASTING = Study(
    name="lasting",
    title="A study that lasts",
    about="Whether it goes on where it stopped.",
    experiments=(
        Experiment(
            name="short",
            title="Three rounds",
            source="nobody's paper",
            arms=(Arm("short", "pca-synthetic-small", ("horizon.rounds=3", "evaluate_every=1")),),
            read_at=(3,),
            seeds=(1,),
        ),
        Experiment(
            name="long",
            title="Four hundred rounds",
            source="nobody's paper",
            arms=(
                Arm("streams", "pca-synthetic-small", SETTINGS),
                Arm("ends", "pca-synthetic-small", (*SETTINGS, "algorithm.kind=rfedavg")),
            ),
            read_at=(400,),
            seeds=(1,),
        ),
    ),
    claims=(),
)

CELLS: tuple[Cell, ...] = grid(LASTING, Form())

CODE = """
from types import MappingProxyType
from driftfold.studies import catalogue
from tests.studies.lasting import LASTING
catalogue._ALL = MappingProxyType({"lasting": LASTING})
from driftfold_api.command import main
main()
"""


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """Begin the study, or go on with it, in a process group of its own: a terminal's job."""
    return subprocess.Popen(
        [sys.executable, "-c", CODE, "study", "lasting", "--jobs", "2", "--quiet", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def place(folder: Path, cell: Cell) -> Path:
    """The cell's run folder."""
    return cell.folder(folder / "runs" / "lasting")


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something; `seconds` only ends what would never end."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def family(pid: int) -> set[int]:
    """All processes that descend from one, without it."""
    found, new = set[int](), {pid}
    while new:
        new = {child for parent in new for child in _children(parent)} - found
        found |= new
    return found


def gone(pids: set[int]) -> bool:
    """Whether none of them runs."""
    return not any(alive(pid) for pid in pids)


def _children(pid: int) -> list[int]:
    try:
        return children_of(pid)
    except (FileNotFoundError, ProcessLookupError):
        return []

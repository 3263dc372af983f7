"""The command, as a person runs it: in this process or in one of its own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from driftfold_api.command import main

QUICK = ("--set", "horizon.rounds=6", "--set", "evaluate_every=2")
"""Settings that make a run of the synthetic preset a matter of a moment."""


def call(*arguments: str) -> int:
    """Run the command here and return its exit code."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert isinstance(caught.value.code, int)
    return caught.value.code


def spawn(
    arguments: Sequence[str], folder: Path, code: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a fresh process, `code` first."""
    script = f"{code}\nfrom driftfold_api.command import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

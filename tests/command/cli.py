"""The command, as a person runs it: in this process or in one of its own."""

import os
import subprocess
import sys
from collections.abc import Collection, Sequence
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


def spawn_all(
    commands: Sequence[Sequence[str]], folder: Path, heavy: Collection[str]
) -> subprocess.CompletedProcess[str]:
    """Run commands one after the other in a fresh process; tell which of the modules each has."""
    script = f"""if True:
        import sys
        from driftfold_api.command import main
        for arguments in {[list(words) for words in commands]}:
            try:
                main(arguments)
            except SystemExit as end:
                if end.code:
                    raise
            print("heavy:", sorted(set({sorted(heavy)}) & set(sys.modules)))
    """
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

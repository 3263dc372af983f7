"""Ctrl-C in the demo: one line, and nothing that it has started is left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.modules import ROOT


def running_in(folder: Path) -> list[str]:
    """Command lines of processes that name a folder."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_text().replace("\0", " "))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return [line for line in lines if str(folder) in line]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_an_interrupted_demo_stops_everything_and_says_so(tmp_path: Path) -> None:
    words = [str(ROOT / "examples" / "demo.py"), "--seeds", "0", "--folder", str(tmp_path / "demo")]
    demo = subprocess.Popen(
        [sys.executable, *words],
        env={**os.environ, "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    assert any(line.startswith("The service is at ") for line in demo.stdout)
    assert len(running_in(tmp_path)) >= 2  # the demo and its service, at least
    demo.send_signal(signal.SIGINT)
    out, err = demo.communicate(timeout=120)
    assert demo.returncode == 130
    assert err == ""
    assert out.endswith(
        "Interrupted: all jobs are canceled, the service and its workers have stopped.\n"
    )
    assert running_in(tmp_path) == []


def test_a_demo_that_is_interrupted_as_it_is_loaded_says_so(tmp_path: Path) -> None:
    slow = "print('loading', flush=True)\nimport time\ntime.sleep(60)"
    (tmp_path / "numpy.py").write_text(slow)  # found before the real one
    demo = subprocess.Popen(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    assert demo.stdout.readline() == "loading\n"
    demo.send_signal(signal.SIGINT)
    out, err = demo.communicate(timeout=120)
    assert (demo.returncode, err) == (130, "")
    assert out == "\nInterrupted: nothing has been started.\n"

"""Progress on a terminal and in a log."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from driftfold.telemetry.base import Record
from driftfold.world.policy import Horizon
from driftfold_api.progress import Bar, Lines, Progress, duration
from tests.command.cli import QUICK

TIMING = {"wall": 0.125, "cpu": 0.125}


def feed(progress: Progress, rounds: int) -> None:
    seq = 0
    for version in range(rounds + 1):
        seq += 1
        progress.emit(Record(seq, "round", 60.0 * version, version, timing=TIMING))
        if version % 5 == 0:
            seq += 1
            gap = {"gap": 1 / (1 + version)}
            progress.emit(Record(seq, "evaluation", 60.0 * version, version, gap))


def test_a_log_gets_a_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(Horizon(rounds=100)) as progress:
        feed(progress, 100)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("round 10/100  10 min virtual  ")
    assert lines[0].endswith("  gap 0.09091")  # its own: the evaluation comes after the round
    assert lines[-1].startswith("round 100/100  1.67 h virtual  ")
    assert lines[-1].endswith("  8 rounds/s  gap 0.009901")


def test_values_of_an_earlier_round_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(Horizon(rounds=20)) as progress:
        feed(progress, 20)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines] == [f"{n}/20" for n in range(2, 21, 2)]
    assert lines[1].endswith("  gap 1 (round 0)")
    assert lines[4].endswith("  gap 0.09091")
    assert lines[6].endswith("  gap 0.09091 (round 10)")


def test_a_run_that_stops_early_tells_how_far_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(Horizon(rounds=100)) as progress:
        feed(progress, 14)
    assert [line.split()[1] for line in capsys.readouterr().err.splitlines()] == [
        "10/100",
        "14/100",
    ]


@pytest.mark.parametrize(
    ("horizon", "share"),
    [
        (Horizon(rounds=40), 0.25),
        (Horizon(seconds=1200.0), 0.5),
        (Horizon(rounds=40, seconds=1200.0), 0.5),
        (Horizon(rounds=5), 1.0),
    ],
)
def test_the_share_is_of_the_horizon_that_comes_first(horizon: Horizon, share: float) -> None:
    progress = Progress(horizon)
    feed(progress, 10)
    assert progress.share == share


def test_the_speed_is_the_runs_own_however_its_records_arrive() -> None:
    progress = Progress(Horizon(rounds=100))
    assert "rounds/s" not in progress.text
    feed(progress, 100)  # at once, as when one begins to watch late
    assert "  8 rounds/s  " in progress.text


def test_a_resumed_run_does_not_count_the_rounds_before_it() -> None:
    progress = Progress(Horizon(rounds=1000))
    feed(progress, 10)
    progress.rewind(900)
    assert "rounds/s" not in progress.text
    progress.emit(Record(901, "round", 1.0, 501, timing={"wall": 0.01}))
    assert "  100 rounds/s" in progress.text


def test_the_bar_draws_title_and_state(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar(Horizon(rounds=10), "[my] run") as progress:
        feed(progress, 10)
    err = capsys.readouterr().err
    assert "[my] run" in err
    assert "100%" in err
    assert "round 10/10" in err


def test_on_a_terminal_there_is_a_bar_and_standard_output_stays_clean(here: Path) -> None:
    mine, theirs = pty.openpty()
    code = "from driftfold_api.command import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", code, "run", "pca-synthetic", *QUICK, "--json", "--no-plot"],
        cwd=here,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "160"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(mine, 4096):
            shown += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(mine)
    out = running.communicate(timeout=60)[0]
    assert running.returncode == 0
    assert b"round 6/6" in shown
    assert "━".encode() in shown
    assert out.startswith(b'{"name": "pca-synthetic"')


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.5, "59.5 s"), (60, "1 min"), (86400, "1 d")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text

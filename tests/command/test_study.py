"""`driftfold study`, as a person runs it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import MappingProxyType

import pytest

from driftfold.folder import only_writer
from driftfold.spec import plugins
from driftfold.studies import catalogue
from driftfold.studies.cells import Form, grid
from driftfold.studies.rates import Rate, pace_key
from driftfold_api.client import Client
from driftfold_api.studying.estimate import print_estimate
from tests.command.cli import call, spawn
from tests.command.service import CODE, serving
from tests.studies.reading import STUDY as READING
from tests.studies.tiny import STUDY


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_ALL", MappingProxyType({"tiny": STUDY}))
    # What other tests of this process loaded is no part of the software of a cell's process.
    monkeypatch.setattr(plugins, "_loaded", {})
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, "1")  # which the command sets, and leaves set


def test_studies_and_experiments_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("study", "--list") == 0
    assert capsys.readouterr().out.startswith("rfedags")
    assert call("study", "rfedags", "--list") == 0
    assert "needs mnist" in capsys.readouterr().out
    assert call("study", "rfedag") == 2
    assert "did you mean 'rfedags'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--small", "--full"), "leave one of them out"),
        (("--estimate", "--list"), "leave one of them out"),
        (("--only", "plaine"), "did you mean 'plain'? known: plain, lacking"),
        (("--list", "--only", "other"), "has no experiment 'other'; known: plain, lacking"),
    ],
)
@pytest.mark.usefixtures("tiny")
def test_what_contradicts_itself_or_is_unknown_is_refused(
    words: tuple[str, ...], sentence: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("study", "tiny", *words) == 2
    assert sentence in capsys.readouterr().err
    assert not (here / "runs").exists()


@pytest.mark.usefixtures("tiny")
def test_a_study_runs_what_it_can_and_goes_on_where_it_stopped(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("study", "tiny", "--jobs", "1") == 1  # one cell has no data
    out, err = capsys.readouterr()
    assert "[3/3]" in err
    assert "not run: lacking/missing-s1" in err
    page = here / "runs" / "tiny" / "report.html"
    assert out.rstrip().endswith("runs/tiny/report.html")
    assert "Weights win" in page.read_text(encoding="utf-8")
    assert "driftfold study tiny --jobs 1" in (page.parent / "summary.md").read_text()
    assert call("study", "tiny", "--only", "plain", "--jobs", "1") == 0
    assert "[" not in capsys.readouterr().err  # nothing was left to run


@pytest.mark.usefixtures("tiny")
def test_a_folder_that_cannot_be_written_is_told_before_any_cell_runs(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "taken").touch()
    assert call("study", "tiny", "--only", "plain", "--folder", "taken") == 2
    err = capsys.readouterr().err
    assert "cannot write in taken: File exists; choose another --folder" in err
    assert "plain-s1" not in err


@pytest.mark.usefixtures("tiny")
def test_two_studies_never_write_in_one_folder(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lock is the system's, which lets go of it when a process is killed: see test_folder."""
    with only_writer(here / "both", "study"):
        assert call("study", "tiny", "--only", "plain", "--folder", "both") == 1
    said = capsys.readouterr().err
    assert "another study writes in both; wait for its end, or give this study a folder" in said
    assert [path.name for path in (here / "both").iterdir()] == [".lock"]


def test_a_command_that_is_interrupted_as_it_is_loaded_says_so(tmp_path: Path) -> None:
    slow = "print('loading', flush=True)\nimport time\ntime.sleep(60)"
    (tmp_path / "typer.py").write_text(slow)  # found before the real one
    command = subprocess.Popen(
        [sys.executable, "-c", CODE, "study", "rfedags"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert command.stdout is not None
    assert command.stdout.readline() == "loading\n"
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=60)
    assert (command.returncode, said) == (130, "interrupted\n")


def test_an_estimate_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    cells = grid(STUDY, Form(seeds=2))
    rates = {pace_key(cells[0].spec): Rate(setup=4.0, round=2.0, evaluation=0.0)}
    print_estimate(STUDY, cells, cells, rates, cores=2)
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "plain 4 10 s 40 s" in said  # setup and three rounds
    assert "lacking 2 - -" in said
    assert "all, on one core 6 40 s" in said
    assert "all, 2 at a time 20 s" in said


@pytest.mark.slow
def test_an_interrupted_study_is_finished_by_the_same_command(here: Path) -> None:
    command = [
        "study",
        "rfedags",
        "--only",
        "aggregation",
        "--seeds",
        "1",
        "--folder",
        "cut",
        "--jobs",
        "2",
    ]
    first = subprocess.Popen(
        [sys.executable, "-c", CODE, *command], cwd=here, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while not list(here.glob("cut/cells/aggregation/*/records.jsonl")):
        assert time.monotonic() < end
        time.sleep(0.05)
    first.send_signal(signal.SIGTERM)
    _, said = first.communicate(timeout=60)
    assert first.returncode == 130
    assert "go on with: driftfold study rfedags --only aggregation" in said
    assert list(here.glob("cut/cells/aggregation/*/checkpoints/**/*"))
    done = spawn(command, here)
    assert done.returncode == 0, done.stderr
    assert len(list(here.glob("cut/cells/aggregation/*/result.json"))) == 6


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_workers_of_a_service_give_the_same_numbers(here: Path) -> None:
    command = ["study", "rfedags", "--small", "--only", "pca-toy", "--seeds", "1"]
    with serving(here) as served:
        there = spawn([*command, "--url", served.url, "--folder", "there"], here)
        assert there.returncode == 0, there.stderr
        with Client(served.url) as client:
            assert len(list(client.list())) == 2
        again = spawn([*command, "--url", served.url, "--folder", "there"], here)
        assert again.returncode == 0, again.stderr
    mine = spawn([*command, "--folder", "mine", "--jobs", "1"], here)
    assert mine.returncode == 0, mine.stderr
    tables = [
        (here / name / "summary.md").read_text().partition("## How it was run")[0]
        for name in ("there", "mine")
    ]
    assert tables[0] == tables[1]


@pytest.mark.slow
@pytest.mark.parametrize("study", ["rfedags", "fedade"])
def test_the_small_form_of_the_study_runs_without_any_data(study: str, here: Path) -> None:
    done = spawn_long(["study", study, "--small", "--quiet"], here)
    assert done.returncode == 0, done.stderr
    assert "not run" not in done.stderr
    assert (here / "runs" / f"{study}-small" / "report.html").stat().st_size > 100_000


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_arms_that_read_others_run_after_them_and_again_when_they_are_lost(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "_ALL", MappingProxyType({"reading": READING}))
    command = ("study", "reading", "--jobs", "2", "--seeds", "1")
    assert call(*command) == 0
    told = capsys.readouterr().err
    assert told.index("controlled/adaptive-s1") < told.index("controlled/matched-s1")
    shutil.rmtree(here / "runs" / "reading" / "cells" / "controlled" / "matched-s1")
    assert call(*command) == 0
    told = capsys.readouterr().err
    assert "[1/1] controlled/matched-s1" in told
    assert call(*command, "--estimate") == 0
    assert "controlled" in capsys.readouterr().out


def spawn_long(arguments: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )

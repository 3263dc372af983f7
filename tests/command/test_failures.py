"""Failures: one clear line, an exit code, never a traceback, nothing half made."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from driftfold.telemetry.reader import read_records
from tests.command.cli import QUICK, call, spawn, spawn_all

UNKNOWN_PROBABILITIES = ("--set", "estimator=oracle", "--set", "participation=diurnal")
CASES = {
    "no such file": (["run", "missing.toml"], "missing.toml: cannot read it: no such file"),
    "no such preset": (["run", "pca-syntetic"], "did you mean 'pca-synthetic'"),
    "unknown field": (["run", "pca-synthetic", "--set", "sed=1"], "unknown field of JobSpec 'sed'"),
    "unknown kind": (["run", "pca-synthetic", "--set", "task=pcb"], "unknown task kind 'pcb'"),
    "negative horizon": (
        ["validate", "pca-synthetic", "--set", "horizon.rounds=-5"],
        "horizon.rounds: got -5, wanted a whole number above 0",
    ),
    "too many clients": (
        ["run", "pca-synthetic", "--set", "task.data.clients=1_000_000_000_000"],
        "task.data.clients: got 1,000,000,000,000 clients, wanted at most 100,000,000",
    ),
    "wrong shape": (
        ["run", "pca-synthetic", "--set", "participation.p=[0.5, 0.5]"],
        "got 2 probabilities p for 40 clients",
    ),
    "parts that do not fit": (
        ["validate", "pca-synthetic", "--build", *UNKNOWN_PROBABILITIES],
        "estimator 'oracle' needs the true probabilities",
    ),
    "parts that do not fit, run": (
        ["run", "pca-synthetic", *UNKNOWN_PROBABILITIES],
        "estimator 'oracle' needs the true probabilities",
    ),
    "data that are not there": (
        ["run", "pca-synthetic", "--set", "task.data={kind='npz', path='none.npz'}"],
        "cannot read none.npz",
    ),
    "broken file": (["run", "broken.toml"], "broken.toml: not valid TOML"),
    "broken plug-in": (
        ["run", "pca-synthetic", "--plugin", "broken_plugin.py"],
        "plug-in 'broken_plugin.py' failed as it was imported: RuntimeError: no way",
    ),
    "folder in the way": (
        ["run", "pca-synthetic", "--folder", "broken.toml"],
        "broken.toml is a file, wanted a folder",
    ),
    "folder that cannot be made": (
        ["run", "pca-synthetic", "--folder", "broken.toml/x"],
        "cannot make the folder broken.toml/x: not a directory",
    ),
    "folder without a run": (["run", "."], ".: a folder without spec.json"),
    "no such command": (["frob"], "No such command 'frob'; see driftfold --help"),
    "no such option": (["run", "pca-synthetic", "--frob"], "No such option"),
    "not a number": (["run", "pca-synthetic", "--seed", "x"], "--seed"),
    "no argument": (["run"], "Missing argument 'SPEC'; see driftfold run --help"),
    "another word": (
        ["solve", "pca-synthetic", "--solver", "rcg"],
        "No such option: --solver (it is --method here); see driftfold solve --help",
    ),
    "file of another kind": (
        ["run", "broken"],
        "wanted a file that ends in .toml, .yaml, .yml or .json, got one without an ending",
    ),
    "unknown family": (["kinds", "taks"], "unknown family 'taks'; did you mean 'task'?"),
    "plot of nothing": (["plot", "nowhere"], "nowhere: not the folder of a run"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_told_in_one_line_with_code_2(
    here: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    (here / "broken.toml").write_text("a = [")
    (here / "broken").touch()
    (here / "broken_plugin.py").write_text("raise RuntimeError('no way')")
    before = sorted(here.rglob("*"))
    arguments, message = CASES[case]
    assert call(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    made = [path for path in here.rglob("*") if path not in before]
    assert [path.name for path in made if "__pycache__" not in path.parts] in ([], ["runs"])


def test_several_problems_take_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("validate", "pca-synthetic", "--set", "seed=-1", "--set", "evaluate_every=0") == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[2] for line in lines] == ["seed", "evaluate_every"]


FAULTY = """
from dataclasses import dataclass
from driftfold.estimators.none import Unweighted
from driftfold.registry import register

@register("broken")
@dataclass(frozen=True)
class Broken(Unweighted):
    "Raises."

    def weigh(self, state, fleet, responders, round):
        raise KeyError("secret\\ncorner")
"""


def test_an_unexpected_error_is_one_line_and_its_traceback_is_kept(here: Path) -> None:
    (here / "faulty.py").write_text(FAULTY)
    arguments = ["run", "pca-synthetic", *QUICK, "--plugin", "faulty.py", "--quiet"]
    arguments += ["--set", "estimator=broken"]
    done = spawn(arguments, here, TMPDIR=str(here))
    assert done.returncode == 1
    assert done.stderr.startswith("error: KeyError: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    kept = Path(done.stderr.strip().rpartition(" ")[2])
    assert "faulty.py" in kept.read_text()
    shown = spawn([*arguments, "--folder", "b", "--debug"], here)
    assert shown.returncode == 1
    assert "Traceback" in shown.stderr


def test_a_run_that_fails_exits_with_1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wild = ["--set", "algorithm.step_size=1e308", "--set", "faults.on_bad_update=fail"]
    assert call("run", "pca-synthetic", *QUICK, *wild, "--quiet") == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_an_interrupted_run_says_how_to_go_on_and_can(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = here / "a" / "records.jsonl"
    arguments = ["run", "pca-synthetic", "--set", "checkpoint_every=20"]
    arguments += ["--set", "horizon.rounds=200", "--quiet", "--folder", "a"]
    running = subprocess.Popen(
        [sys.executable, "-c", "from driftfold_api.command import main; main()", *arguments],
        cwd=here,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not (log.exists() and log.read_bytes().count(b"\n") > 50):
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        err = running.communicate(timeout=60)[1]
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    assert err.count("\n") == 1
    assert err.startswith("interrupted at round ")
    assert err.endswith("driftfold run a --resume\n")
    assert call("run", "a", "--resume", "--json", "--no-plot", "--quiet") == 0
    resumed = capsys.readouterr().out
    assert '"rounds": 200' in resumed
    assert '"resumed_from": null' not in resumed
    assert call(*arguments[:-1], "b", "--json", "--no-plot") == 0
    whole = capsys.readouterr().out
    assert whole.partition('"evaluation_digest"')[0] == resumed.partition('"evaluation_digest"')[
        0
    ].replace('"name": "a"', '"name": "b"')
    assert len(read_records(here / "a")) == len(read_records(here / "b"))


def test_a_reader_that_goes_away_is_no_error(here: Path) -> None:
    code = "from driftfold_api.command import main; main()"
    listing = subprocess.Popen(
        [sys.executable, "-c", code, "kinds"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert listing.stdout is not None
    assert listing.stderr is not None
    listing.stdout.close()
    assert listing.stderr.read() == ""
    listing.stderr.close()
    assert listing.wait() in (0, 1)


def test_commands_that_do_not_simulate_import_no_torch(here: Path) -> None:
    """One after the other in one process."""
    heavy = {"torch", "geoopt", "matplotlib", "scipy"}
    commands = [["--help"], ["kinds"], ["presets"], ["validate", "pca-synthetic"]]
    done = spawn_all([*commands, ["run", "--help"]], here, heavy)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("heavy")] == (
        ["heavy: []"] * 5
    )
    assert done.stderr == ""

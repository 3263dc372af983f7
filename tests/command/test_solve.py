"""`driftfold solve`: the centralised baseline."""

import json

import pytest
from typer.testing import CliRunner

from driftfold.rng import Seed
from driftfold.solvers.base import Iterate
from driftfold.spec import load_spec
from driftfold_api.command import app
from driftfold_api.solver_progress import SolverProgress
from tests.command.cli import call


def test_solve_tells_what_it_found() -> None:
    optimum = load_spec("pca-synthetic").task.build(Seed(0)).optimum()
    arguments = ["solve", "pca-synthetic", "--set", "seed=0", "--json"]
    told = json.loads(CliRunner().invoke(app, arguments).output)
    assert told["method"]["kind"] == "lrbfgs"
    assert told["why"] == "gradient"
    assert told["gradient_norm"] <= told["method"]["tolerance"] == 1e-10
    assert told["value"] == pytest.approx(optimum, abs=1e-12)
    assert told["metrics"]["loss"] == told["value"]
    assert told["timing"]["solve"] > 0


def test_solve_shows_a_table() -> None:
    arguments = ["solve", "pca-synthetic", "--method", "rsd", "--iterations", "3"]
    lines = CliRunner().invoke(app, arguments).output.splitlines()
    shown = dict(line.split("  ", 1) for line in lines)
    assert shown["method"].strip() == "rsd"
    assert shown["stopped"].strip() == "all iterations are used"
    assert shown["iterations"].strip().startswith("3, with ")


def test_an_unknown_method_is_told_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("solve", "pca-synthetic", "--method", "lbfgs") == 2
    assert "did you mean 'lrbfgs'? known: lrbfgs, rcg, rsd" in capsys.readouterr().err


def test_on_a_terminal_each_iterate_is_shown_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    with SolverProgress("live") as shown:
        shown(Iterate(None, 2.0, None, 0.5))
    assert "loading the data\r" in (err := capsys.readouterr().err)
    assert "iteration 0  value 2  gradient norm 0.5" in err
    assert err.endswith("\r\x1b[K")


def test_elsewhere_a_line_tells_the_end_and_json_is_left_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("solve", "pca-synthetic", "--iterations", "2") == 0
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert call("solve", "pca-synthetic", "--iterations", "2", "--json") == 0
    assert not capsys.readouterr().err


def test_an_interrupt_prints_the_best_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(self: SolverProgress, iterate: Iterate) -> None:
        watched(self, iterate)
        if self.iterations == 3:
            raise KeyboardInterrupt

    watched = SolverProgress.__call__
    monkeypatch.setattr(SolverProgress, "__call__", interrupted)
    assert call("solve", "pca-synthetic") == 130
    out = capsys.readouterr().out
    assert "interrupted; this is the best so far" in out
    assert "iterations     3, with" in out

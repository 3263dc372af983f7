"""`driftfold solve`: the centralised baseline."""

import json

import pytest
from typer.testing import CliRunner

from driftfold.rng import Seed
from driftfold.spec import load_spec
from driftfold_api.command import app
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

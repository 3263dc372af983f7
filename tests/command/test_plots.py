"""Plots: which curves, which file, and what cannot be drawn."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from driftfold.telemetry.base import Record
from driftfold_api.errors import RequestError
from driftfold_api.plots import Arm, band, plot_runs
from tests.command.cli import QUICK, call


def records(values: Sequence[float], pace: float = 1.0, metric: str = "gap") -> list[Record]:
    return [
        Record(t + 1, "evaluation", pace * t, 10 * t, {metric: value})
        for t, value in enumerate(values)
    ]


def test_band_of_curves_on_one_grid_is_their_quartiles() -> None:
    x = np.array([0.0, 1.0, 2.0])
    ys = [np.array(row) for row in ([1.0, 5.0, 0.0], [2.0, 4.0, 0.0], [9.0, 0.0, 0.0])]
    grid, middle, low, high = band([x, x, x], ys)
    np.testing.assert_array_equal(grid, x)
    np.testing.assert_array_equal(middle, [2, 4, 0])
    np.testing.assert_array_equal(low, [1.5, 2, 0])
    np.testing.assert_array_equal(high, [5.5, 4.5, 0])


def test_band_of_curves_on_other_grids_covers_what_all_cover() -> None:
    """Both curves are the line y = x, so every quartile is, wherever it is read off."""
    xs = [np.array([0.0, 4.0]), np.array([1.0, 2.0, 6.0])]
    grid, middle, low, high = band(xs, xs)
    assert (grid[0], grid[-1]) == (1.0, 4.0)
    for row in (middle, low, high):
        np.testing.assert_allclose(row, grid, rtol=1e-12)  # rounding of the interpolation


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_the_picture_is_written_and_repeatable(here: Path, suffix: str, start: bytes) -> None:
    arms: dict[str, Arm] = {
        "one": records([1, 0.5, 0.2]),
        "many": [records([1, 0.4]), records([2, 0.3], 2.0)],
    }
    first = plot_runs(arms, here / "new" / f"a{suffix}")
    second = plot_runs(arms, here / f"b{suffix}")
    assert first == here / "new" / f"a{suffix}"
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()


def test_the_picture_names_arms_seeds_and_axes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")  # text stays text
    arms: dict[str, Arm] = {
        "one": records([1, 0.5]),
        "many": [records([1, 0.4]), records([2, 0.3])],
    }
    text = plot_runs(arms, here / "a.svg").read_text()
    words = ["one", "many (2 seeds)", "rounds", "virtual time (s)", "optimality gap"]
    for word in (*words, "median and quartiles of seeds"):
        assert f">{word}<" in text
    still = plot_runs({"one": records([1, 0.5], pace=0.0)}, here / "b.svg").read_text()
    assert "quartiles" not in still
    assert ">no virtual time passed<" in still


@pytest.mark.parametrize("values", [[1.0, 0.0], [-1.0, -2.0], [1.0, float("nan"), 2.0]])
def test_values_without_a_logarithm_are_drawn(here: Path, values: list[float]) -> None:
    assert plot_runs({"a": records(values)}, here / "a.png").exists()


def test_loss_is_drawn_where_there_is_no_gap(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")
    text = plot_runs({"a": records([2, 1], metric="loss")}, here / "a.svg").read_text()
    assert ">loss<" in text


def test_what_cannot_be_drawn_is_refused(here: Path) -> None:
    with pytest.raises(RequestError, match="a: no evaluation tells 'accuracy'; choose one of: gap"):
        plot_runs({"a": records([1])}, here / "a.png", "accuracy")
    with pytest.raises(RequestError, match=r"cannot write the plot .*a\.xyz: .*not supported"):
        plot_runs({"a": records([1])}, here / "a.xyz")
    (here / "file").write_text("")
    with pytest.raises(RequestError, match=r"cannot write the plot .*file/a\.png"):
        plot_runs({"a": records([1])}, here / "file" / "a.png")
    with pytest.raises(RequestError, match="no run to draw"):
        plot_runs({}, here / "a.png")


def test_the_command_groups_runs_that_differ_only_in_their_seed(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")
    folders = []
    for preset, seed in (("pca-synthetic", 1), ("pca-synthetic", 2), ("pca-synthetic-rs", 1)):
        folder = f"{preset}-{seed}"
        settings = ("--seed", str(seed), "--folder", folder, "--no-plot", "--json", "--quiet")
        assert call("run", preset, *QUICK, *settings) == 0
        folders.append(folder)
    capsys.readouterr()
    assert call("plot", *folders, "--out", "all.svg") == 0
    assert capsys.readouterr().out == "all.svg\n"
    text = (here / "all.svg").read_text()
    assert ">pca-synthetic (2 seeds)<" in text
    assert ">pca-synthetic-rs<" in text


def test_arms_of_one_name_are_told_apart(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")
    for steps in (1, 2):
        folder = here / str(steps)
        folder.mkdir()
        (folder / "spec.json").write_text(json.dumps({"name": "same", "steps": steps, "seed": 0}))
        line = {"seq": 1, "kind": "evaluation", "time": 0, "version": 0, "values": {"gap": steps}}
        (folder / "records.jsonl").write_text(json.dumps(line) + "\n")
    assert call("plot", "1", "2", "--out", "a.svg") == 0
    text = (here / "a.svg").read_text()
    assert ">same<" in text
    assert ">same (2)<" in text

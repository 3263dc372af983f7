"""`driftfold sweep` with a real service: grids, random points, seeds, early stops."""

import json
import sys
from collections.abc import Iterator

import pytest

from driftfold_api.client import Client
from driftfold_api.group_models import GroupDetail
from driftfold_workers.jobs.job import State
from tests.command.cli import QUICK, call
from tests.command.service import Served, serving

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="its service has real processes")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("service"), "--slots", "1") as served:
        yield served


@pytest.fixture(autouse=True)
def environment(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTFOLD_URL", served.url)


def told(capsys: pytest.CaptureFixture[str]) -> GroupDetail:
    """The group that was printed last."""
    return GroupDetail.model_validate_json(capsys.readouterr().out.splitlines()[-1])


def test_random_points_are_drawn(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    draws = ("--random", "algorithm.steps=1..3", "--random", "task.data.samples=20,40")
    words = ("sweep", "pca-synthetic", *QUICK, *draws, "--samples-seed", "7", "--json")
    assert call(*words, "--samples", "4", "--watch") == 0
    group = told(capsys)
    assert group.states == {State.SUCCEEDED: 4}
    assert group.sweep["random"]["algorithm.steps"] == {"low": 1, "high": 3}
    assert (group.sweep["samples"], group.sweep["seed"]) == (4, 7)
    assert call(*words, "--samples", "2") == 0
    fewer = told(capsys)
    with Client(served.url) as client:
        first, second = (client.group_jobs(each.id).jobs for each in (group, fewer))
    points = [child.point for child in first]
    assert [child.point for child in second] == points[:2]
    for point in points:
        assert point["algorithm.steps"] in (1, 2, 3)
        assert point["task.data.samples"] in (20, 40)


def test_all_stop_once_one_has_reached_the_target(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    long = ("--set", "horizon.rounds=800", "--set", "evaluate_every=2", "--seeds", "3")
    rule = ("--stop-by", "gap", "--target", "1e9")  # which the first value has
    assert call("sweep", "pca-synthetic", *long, *rule, "--watch") == 0
    out, err = capsys.readouterr()
    assert "the rest was canceled: job 1 of the group reached gap" in err
    assert [line.split()[2] for line in out.splitlines()] == ["succeeded", *2 * ["canceled"]]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--random", "algorithm.steps=1..3"), "got --random without --samples; give both"),
        (("--seeds", "2", "--target", "0.1"), "got --target 0.1 without --stop-by"),
        (
            ("--random", "algorithm.steps=3..1", "--samples", "2"),
            "got 3 to 1, wanted low < high",
        ),
        (
            ("--random", "a=1..3", "--samples", "2", "--grid", "b=1,2"),
            "got both grid and random, wanted one of them",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("sweep", "pca-synthetic", *words) == 2
    assert reason in " ".join(capsys.readouterr().err.split())


def test_a_grid_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sweep", "pca-synthetic", *QUICK, "--grid", "algorithm.steps=1,2", "--seeds", "2")
    assert call(*words, "--name", "mine") == 0
    out, err = capsys.readouterr()
    assert out.endswith("  4 jobs\n")
    assert f"driftfold watch {out.split()[0]}" in err
    assert call(*words, "--json", "--stop-by", "gap") == 0
    stop = json.loads(capsys.readouterr().out)["stop"]
    assert (stop["kind"], stop["metric"], stop["goal"]) == ("median", "gap", "min")

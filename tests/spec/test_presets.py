"""Presets: they build where their data are at hand, and say what is missing where they are not."""

from pathlib import Path

import numpy as np
import pytest

from driftfold import presets
from driftfold.assembly import build
from driftfold.errors import DataError
from driftfold.participation import Bernoulli
from driftfold.run import run
from driftfold.spec import load_spec, to_mapping

SMALL = [name for name in presets.names() if name.endswith("-small")]
MISSING = {
    "hyperbolic-prediction": "mammal_points",
    "movielens-100k": "movielens_100k",
    "movielens-1m": "movielens_1m",
    "pca-cifar10": "cifar10",
    "pca-cifar10-jpeg": "cifar10_jpeg",
    "spd-mean-pathmnist": "pathmnist",
    **{
        name: "mnist"
        for name in presets.names()
        if name.startswith("mnist-eigenvector") and not name.endswith("-small")
    },
}


@pytest.mark.parametrize("name", MISSING)
def test_a_preset_without_its_data_says_how_to_obtain_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTFOLD_DATA", str(tmp_path))
    with pytest.raises(DataError, match=rf"^{MISSING[name]} is not in .*: no .* there; \w+"):
        build(load_spec(name))


@pytest.mark.parametrize("name", SMALL)
def test_small_forms_need_no_data(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTFOLD_DATA", str(tmp_path))
    table = to_mapping(load_spec(name))
    assert table["horizon"]["rounds"] <= 300
    assert build(load_spec(name)).problem.fleet.size <= 20


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_small_forms_get_somewhere(name: str) -> None:
    first = run(load_spec(name, overrides=["horizon.rounds=1", "evaluate_every=1"])).metrics
    last = run(load_spec(name)).metrics
    # Half the way from the loss after one round to the optimum, where it is known.
    if "gap" in last:
        assert last["gap"] < first["gap"] / 2
    else:
        assert last["loss"] < first["loss"]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(presets.names()) - set(MISSING) - set(SMALL)))
def test_presets_whose_data_come_along_build(name: str) -> None:
    world = build(load_spec(name))
    assert np.isfinite(world.problem.initial_point()).all()


def test_published_probabilities_are_those_of_the_authors_generator() -> None:
    drawn = np.random.RandomState(5489).random_sample(50).tolist()
    for name, count in (("pca-cifar10", 50), ("hyperbolic-prediction", 9)):
        participation = load_spec(name).participation
        assert isinstance(participation, Bernoulli)
        assert participation.p == tuple(drawn[:count])


def test_stragglers_answer_rarely_and_the_others_three_times_in_ten() -> None:
    participation = load_spec("mnist-eigenvector-stragglers").participation
    assert isinstance(participation, Bernoulli)
    assert isinstance(participation.p, tuple)
    assert sorted(set(participation.p[:3])) == [0.05]
    assert len(participation.p) == 60
    assert abs(np.mean(participation.p) - 0.3) < 1e-12


def test_rows_of_the_study_of_dimensions_come_ten_clients_to_a_scale() -> None:
    data = to_mapping(load_spec("pca-scaling-dimension"))["task"]["data"]
    assert data["scales"] == [(1 + client // 10) / 50 for client in range(50)]

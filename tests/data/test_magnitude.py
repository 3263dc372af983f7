from typing import Any

import numpy as np
import pytest

from driftfold.data import (
    GaussianClasses,
    Iid,
    LowRankRatings,
    SpdClasses,
    SubspaceRegression,
    SyntheticSpd,
    WrappedNormal,
)
from driftfold.data.base import Dataset
from driftfold.data.magnitude import LARGEST, check_magnitude
from driftfold.errors import DataError
from driftfold.rng import Seed
from driftfold.tasks.division import divide_dataset


@pytest.mark.parametrize(
    ("source", "field"),
    [
        (WrappedNormal(clients=2, samples=3, radius=800), "radius = 800"),
        (WrappedNormal(clients=2, samples=3, spread=300), "spread = 300"),
        (SpdClasses(samples=8, separation=1e6), r"separation = 1e\+06"),
        (SyntheticSpd(clients=2, samples=3, heterogeneity=1e4), "heterogeneity = 10000"),
        (SubspaceRegression(clients=2, samples=3, noise=1e200), r"noise = 1e\+200"),
        (GaussianClasses(samples=30, separation=1e300), r"separation = 1e\+300"),
        (LowRankRatings(items=9, users=9, rank=2, oversampling=1, noise=1e200), r"noise = 1e\+200"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_overflow_names_its_field(source: Any, field: str) -> None:
    with pytest.raises(DataError, match=rf"hold numbers of size .* wanted finite .*{field}"):
        source.load(Seed(1))


def test_distances_that_make_sense_are_kept() -> None:
    assert np.isfinite(WrappedNormal(clients=3, samples=4, radius=100).load(Seed(1)).x).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, -1e200])
def test_no_task_takes_such_data(wrong: float) -> None:
    x = np.ones((6, 2))
    x[4, 1] = wrong
    with pytest.raises(DataError, match=r"the data hold numbers of size (nan|inf|1e)"):
        divide_dataset(Dataset(x=x), Iid(), 2, "clients", Seed(1))


def test_the_largest_is_allowed() -> None:
    check_magnitude(np.array([-LARGEST, LARGEST]), "they")
    check_magnitude(np.zeros(0), "they")
    check_magnitude(np.array([255, 0], dtype=np.uint8), "they")

from itertools import combinations

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.participation import KnownProbability, Uniform
from tests.participation.fleets import fleet_of


@pytest.mark.parametrize(
    ("model", "clients", "chosen"),
    [
        (Uniform(rho=0.3), 10, 3),
        (Uniform(rho=0.1), 30, 3),  # 0.1 * 30 > 3 in floating point
        (Uniform(rho=0.31), 10, 4),
        (Uniform(rho=1.0), 7, 7),
        (Uniform(rho=0.001), 7, 1),
        (Uniform(size=7), 7, 7),
        (Uniform(size=1), 7, 1),
    ],
)
def test_every_dispatch_reaches_s_clients(model: Uniform, clients: int, chosen: int) -> None:
    attendance = model.attend(fleet_of(clients))
    everyone = np.arange(clients)
    assert {int(attendance.responds(everyone, t).sum()) for t in range(50)} == {chosen}
    assert isinstance(attendance, KnownProbability)
    assert attendance.probability(everyone[:2]).tolist() == [chosen / clients] * len(everyone[:2])


def test_all_subsets_are_equally_likely() -> None:
    attendance = Uniform(size=2).attend(fleet_of(5))
    rounds = 5000
    drawn = [
        tuple(np.flatnonzero(attendance.responds(np.arange(5), t)).tolist()) for t in range(rounds)
    ]
    counts = np.array([drawn.count(pair) for pair in combinations(range(5), 2)])
    expected = rounds / 10
    # Pearson's statistic has 9 degrees of freedom: above 33.7 with probability 1e-4.
    assert np.sum((counts - expected) ** 2 / expected) < 33.7


def test_clients_asked_one_by_one_form_the_same_subset() -> None:
    attendance = Uniform(rho=0.4).attend(fleet_of(20))
    for t in (3, 4, 3):
        together = attendance.responds(np.arange(20), t)
        single = [bool(attendance.responds(np.array([i]), t)[0]) for i in range(20)]
        assert single == together.tolist()


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (Uniform(), "exactly one"),
        (Uniform(rho=0.5, size=2), "exactly one"),
        (Uniform(size=6), "6 of 5 clients"),
        (Uniform(size=0), "0 of 5 clients"),
        (Uniform(rho=1.2), "6 of 5 clients"),
    ],
)
def test_what_does_not_fit_is_refused(model: Uniform, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        model.attend(fleet_of(5))

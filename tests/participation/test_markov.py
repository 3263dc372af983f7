import numpy as np
import pytest

from driftfold.arrays import Bools
from driftfold.participation import KnownProbability, Markov, Participation
from driftfold.participation.markov import Chains
from driftfold.participation.slots import PerDispatch
from tests.participation.fleets import fleet_of


def chains(model: Participation, size: int = 4) -> Chains:
    attendance = model.attend(fleet_of(size))
    assert isinstance(attendance, PerDispatch)
    assert isinstance(attendance.process, Chains)
    return attendance.process


def answers(model: Participation, size: int, dispatches: range) -> Bools:
    attendance = model.attend(fleet_of(size))
    return np.array([attendance.responds(np.arange(size), n) for n in dispatches])


def test_rates_are_scaled_where_going_off_would_exceed_one() -> None:
    """a = 0.05 and b = a (1 / p - 1), or b = 1 and a = p / (1 - p) where that exceeds 1."""
    process = chains(Markov(p=(0.5, 0.02, 0.0, 1.0)))
    np.testing.assert_allclose(process.comes, [0.05, 0.02 / 0.98, 0.0, 0.05], rtol=1e-14)
    np.testing.assert_allclose(process.goes, [0.05, 1.0, 1.0, 0.0], rtol=1e-14)


def test_memory_is_one_minus_both_rates() -> None:
    process = chains(Markov(p=(0.5, 0.02, 0.0, 1.0), memory=0.75))
    np.testing.assert_allclose(process.comes + process.goes, 0.25, rtol=1e-14)
    np.testing.assert_allclose(process.comes, [0.125, 0.005, 0.0, 0.25], rtol=1e-14)


def test_a_probability_is_known_only_for_dispatches() -> None:
    assert Markov().knows_probability
    assert isinstance(Markov().attend(fleet_of(2)), KnownProbability)
    assert not Markov(slot=60.0).knows_probability
    assert not isinstance(Markov(slot=60.0).attend(fleet_of(2)), KnownProbability)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        Markov(p=0.3, rate=0.2),
        Markov(p=0.02),
        Markov(p=0.6, memory=0.9),
        Markov(p=0.4, rate=0.9, regions=50, shock=0.5),
    ],
)
def test_the_law_is_stationary_from_the_start(model: Markov) -> None:
    size, p = 5000, model.p
    assert isinstance(p, float)
    process = chains(model, 1)
    memory = float(1 - process.comes[0] - process.goes[0])
    for first in (0, 1, 1_000_000):
        on = answers(model, size, range(first, first + 40)).astype(float) - p
        # Clients share a region with a hundred others where there are shocks: at most as many
        # times the variance of independent ones; five standard errors.
        count = size if model.shock == 0 else 50
        assert abs(on[0].mean()) < 5 * np.sqrt(p * (1 - p) / count)
        lag = (on[1:] * on[:-1]).mean() / (p * (1 - p))
        assert abs(lag - memory) < 5 / np.sqrt(count) * (1 if model.shock == 0 else 0.5)


@pytest.mark.slow
def test_shocks_make_clients_of_a_region_switch_together() -> None:
    size = 60
    model = Markov(p=0.5, memory=0.5, regions=2, shock=0.8)
    process = chains(model, size)
    on = answers(model, size, range(4000)).astype(float) - 0.5
    correlation = (on.T @ on) / len(on) / 0.25
    same = process.region[:, None] == process.region
    off_diagonal = ~np.eye(size, dtype=bool)
    # 4000 slots with memory 0.5 count as about 1300 independent ones: standard error 0.03.
    assert correlation[same & off_diagonal].min() > 0.35
    assert np.abs(correlation[~same]).max() < 0.2

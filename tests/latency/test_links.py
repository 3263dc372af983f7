import numpy as np
import pytest
from scipy import stats

from driftfold.latency import ConstantLinks, Links, LognormalLinks
from driftfold.rng import Seed

SIZE = 20_000
SCORES = Seed(3).stream("scores").normal(np.arange(SIZE), 0, 3)


def test_constant_links_are_alike() -> None:
    rates = ConstantLinks(100, 50, round_trip=0.5, down_cv=0.1).rates(SCORES[:2])
    assert rates.down.tolist() == [100.0, 100.0]
    assert rates.up.tolist() == [50.0, 50.0]
    assert rates.round_trip.tolist() == [0.5, 0.5]
    assert rates.down_jitter == pytest.approx([np.sqrt(np.log(1.01))] * 2, rel=1e-12)
    assert rates.up_jitter.tolist() == [0.0, 0.0]


def test_rates_and_round_trips_spread_around_their_medians() -> None:
    rates = LognormalLinks(2e6, 1e6, round_trip=0.05, round_trip_spread=0.3).rates(SCORES)
    laws = [(rates.down, 2e6, 0.47), (rates.up, 1e6, 0.68), (rates.round_trip, 0.05, 0.3)]
    for values, median, sigma in laws:
        # Fixed scores, so no repeats: a correct law fails with probability 1e-4.
        assert stats.kstest(np.log(values / median) / sigma, "norm").pvalue > 1e-4


def test_both_directions_are_correlated_as_measured() -> None:
    rates = LognormalLinks().rates(SCORES)
    found = np.corrcoef(np.log(rates.down), np.log(rates.up))[0, 1]
    assert found == pytest.approx(0.45, abs=4 * (1 - 0.45**2) / np.sqrt(SIZE))


def test_perfectly_correlated_directions() -> None:
    same = LognormalLinks(1, 1, down_spread=0.5, up_spread=0.5, correlation=1.0).rates(SCORES[:9])
    assert np.array_equal(same.down, same.up)
    opposite = LognormalLinks(1, 1, down_spread=0.5, up_spread=0.5, correlation=-1.0)
    rates = opposite.rates(SCORES[:9])
    np.testing.assert_allclose(rates.down * rates.up, 1.0, rtol=1e-15)


@pytest.mark.parametrize("links", [ConstantLinks(), LognormalLinks()])
def test_a_higher_first_score_is_a_downlink_at_least_as_fast(links: Links) -> None:
    scores = np.zeros((101, 3))
    scores[:, 0] = np.linspace(-4, 4, 101)
    assert (np.diff(links.rates(scores).down) >= 0).all()

import numpy as np
import pytest
from scipy import stats

from driftfold.arrays import Floats
from driftfold.latency import Lognormal
from tests.participation.fleets import fleet_of

SIZE = 4000
EVERYONE = np.arange(SIZE)
STEADY = Lognormal(compute_jitter=0.0, link_jitter=0.0)


def check_lognormal(times: Floats, median: float, sigma: float) -> None:
    logs = (np.log(times) - np.log(median)) / sigma
    # Fixed seeds, so no repeats: a correct law fails with probability 1e-4.
    assert stats.kstest(logs, "norm").pvalue > 1e-4


def test_devices_spread_around_their_median() -> None:
    delays = STEADY.delays(fleet_of(SIZE))
    check_lognormal(delays.compute(EVERYONE, np.full(SIZE, 100.0), 0), 1.36, 0.6)


def test_links_spread_around_their_medians() -> None:
    delays = STEADY.delays(fleet_of(SIZE))
    check_lognormal(delays.download(EVERYONE, 1_080_000, 0), 2.0, 0.47)
    check_lognormal(delays.upload(EVERYONE, 820_000, 0), 2.0, 0.68)


def test_both_directions_of_a_link_are_correlated_and_devices_are_not() -> None:
    delays = STEADY.delays(fleet_of(SIZE))
    logs = np.log(
        [
            delays.download(EVERYONE, 1000, 0),
            delays.upload(EVERYONE, 1000, 0),
            delays.compute(EVERYONE, np.ones(SIZE), 0),
        ]
    )
    found = np.corrcoef(logs)[np.triu_indices(3, 1)]
    # A sample correlation is within 4 / sqrt(SIZE) of the true one.
    assert np.abs(found - [0.45, 0.0, 0.0]).max() < 4 / np.sqrt(SIZE)


def test_speeds_last_and_jitter_does_not() -> None:
    model = Lognormal(device_spread=1.0, compute_jitter=0.2)
    delays = model.delays(fleet_of(SIZE))
    first, second = (np.log(delays.compute(EVERYONE, np.ones(SIZE), d)) for d in (0, 1))
    check_lognormal(np.exp(first - second), 1.0, 0.2 * np.sqrt(2))
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(1 / 1.04, abs=0.01)


def test_without_jitter_every_dispatch_takes_the_same_time() -> None:
    delays = STEADY.delays(fleet_of(5))
    clients = np.arange(5)
    first = [delays.upload(clients, 77, 0), delays.compute(clients, np.ones(5), 0)]
    later = [delays.upload(clients, 77, 9), delays.compute(clients, np.ones(5), 9)]
    assert np.array_equal(first, later)


def test_time_is_proportional_to_size() -> None:
    delays = Lognormal(overhead=0.25).delays(fleet_of(5))
    clients = np.arange(5)
    np.testing.assert_allclose(
        delays.download(clients, 3000, 1), 3 * delays.download(clients, 1000, 1), rtol=1e-15
    )
    work = [delays.compute(clients, np.full(5, float(n)), 1) - 0.25 for n in (0, 10, 30)]
    assert work[0].tolist() == [0.0] * 5
    np.testing.assert_allclose(work[2], 3 * work[1], rtol=1e-13)


def test_a_client_keeps_its_speed_when_others_join() -> None:
    few, many = Lognormal().delays(fleet_of(7)), Lognormal().delays(fleet_of(1000))
    clients = np.arange(7)
    assert np.array_equal(few.download(clients, 999, 3), many.download(clients, 999, 3))
    assert np.array_equal(few.upload(clients, 999, 3), many.upload(clients, 999, 3))
    samples = np.full(7, 50.0)
    assert np.array_equal(few.compute(clients, samples, 3), many.compute(clients, samples, 3))


def test_the_widest_spread_stays_finite() -> None:
    wide = Lognormal(device_spread=10.0, compute_jitter=10.0, link_jitter=10.0, up_spread=10.0)
    delays = wide.delays(fleet_of(SIZE))
    assert np.isfinite(delays.compute(EVERYONE, np.full(SIZE, 1e12), 0)).all()
    assert np.isfinite(delays.upload(EVERYONE, 10**15, 0)).all()

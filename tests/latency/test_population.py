import numpy as np
import pytest
from scipy import stats

from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.latency import (
    ConstantDevices,
    ConstantLinks,
    DeviceMix,
    DeviceType,
    FlashPhones,
    Latency,
    LognormalDevices,
    LognormalLinks,
    Population,
    Stragglers,
)
from driftfold.spec import load_builtins
from driftfold.spec.codec import decode, encode
from tests.participation.fleets import fleet_of

SIZE = 4000
EVERYONE = np.arange(SIZE)
CLIENTS = np.array([2, 0])
STEADY = Population(
    LognormalDevices(cv=0.0), LognormalLinks(down_cv=0.0, up_cv=0.0), correlation=0.6
)


def test_seconds_from_bytes_and_samples() -> None:
    link = ConstantLinks(down=1_000_000, up=250_000, round_trip=0.125)
    delays = Population(ConstantDevices(0.25), link, overhead=2.0).delays(fleet_of(3))
    assert delays.download(CLIENTS, 500_000, 0).tolist() == [0.625, 0.625]
    assert delays.upload(CLIENTS, 500_000, 7).tolist() == [2.125, 2.125]
    assert delays.upload(CLIENTS, 0, 7).tolist() == [0.125, 0.125]
    assert delays.compute(CLIENTS, np.array([4.0, 10.0]), 0).tolist() == [3.0, 4.5]


def test_speeds_last_for_the_run() -> None:
    delays, again = STEADY.delays(fleet_of(5)), STEADY.delays(fleet_of(5))
    clients = np.arange(5)
    assert np.array_equal(delays.download(clients, 77, 0), again.download(clients, 77, 9))
    assert np.array_equal(delays.upload(clients, 77, 0), again.upload(clients, 77, 9))
    work = np.ones(5)
    assert np.array_equal(delays.compute(clients, work, 0), again.compute(clients, work, 9))
    other = STEADY.delays(fleet_of(5, seed=2))
    assert not np.intersect1d(delays.download(clients, 77, 0), other.download(clients, 77, 0)).size


def test_devices_and_links_are_correlated() -> None:
    delays = STEADY.delays(fleet_of(SIZE))
    logs = -np.log(
        [
            delays.compute(EVERYONE, np.ones(SIZE), 0),
            delays.download(EVERYONE, 1000, 0),
            delays.upload(EVERYONE, 1000, 0),
        ]
    )
    found = np.corrcoef(logs)[np.triu_indices(3, 1)]
    # A sample correlation is within 4 / sqrt(SIZE) of the true one.
    assert np.abs(found - [0.6, 0.6 * 0.45, 0.45]).max() < 4 / np.sqrt(SIZE)
    spreads = logs.std(axis=1) / [1.36, 0.47, 0.68]
    assert spreads == pytest.approx(1.0, abs=4 / np.sqrt(2 * SIZE))


def test_better_phones_have_better_links() -> None:
    model = Population(FlashPhones(), STEADY.link, correlation=0.9)
    delays = model.delays(fleet_of(SIZE))
    nexus = delays.compute(EVERYONE, np.full(SIZE, 10.0), 0) > 1.1
    seconds = delays.download(EVERYONE, 10**6, 0)
    assert np.median(seconds[nexus]) > 1.5 * np.median(seconds[~nexus])


def check_jitter(one: Floats, other: Floats, cv: float) -> None:
    # ln of the ratio of two dispatches is normal with sd sqrt(2 ln(1 + cv^2)); fixed seeds.
    logs = np.log(one / other) / np.sqrt(2 * np.log1p(cv**2))
    assert stats.kstest(logs, "norm").pvalue > 1e-4


def test_each_visit_differs_by_the_variation_within_a_device() -> None:
    delays = Population(LognormalDevices(cv=0.05)).delays(fleet_of(SIZE))
    work = np.ones(SIZE)
    check_jitter(delays.compute(EVERYONE, work, 3), delays.compute(EVERYONE, work, 4), 0.05)
    check_jitter(delays.download(EVERYONE, 9, 3), delays.download(EVERYONE, 9, 4), 0.37)
    check_jitter(delays.upload(EVERYONE, 9, 3), delays.upload(EVERYONE, 9, 4), 0.40)
    # What varies is the rate of one client: its coefficient of variation is the measured one.
    rates = 9 / np.array([delays.download(np.arange(20), 9, d) for d in range(300)])
    found = np.median(rates.std(axis=0) / rates.mean(axis=0))
    assert found == pytest.approx(0.37, abs=0.02)  # 300 visits, 20 clients: 4 errors of 0.005


def test_round_trips_have_no_jitter() -> None:
    link = ConstantLinks(down=1e12, up=1e12, round_trip=0.5, down_cv=0.5, up_cv=0.5)
    delays = Population(link=link).delays(fleet_of(3))
    assert delays.download(CLIENTS, 0, 0).tolist() == [0.5, 0.5]
    assert delays.upload(CLIENTS, 1, 0) == pytest.approx([0.5, 0.5], abs=1e-10)


def test_a_client_keeps_its_speed_when_others_join() -> None:
    few, many = STEADY.delays(fleet_of(7)), STEADY.delays(fleet_of(1000))
    clients, samples = np.arange(7), np.full(7, 50.0)
    assert np.array_equal(few.download(clients, 999, 3), many.download(clients, 999, 3))
    assert np.array_equal(few.upload(clients, 999, 3), many.upload(clients, 999, 3))
    assert np.array_equal(few.compute(clients, samples, 3), many.compute(clients, samples, 3))


def test_parts_are_tables_of_a_specification() -> None:
    load_builtins()
    table = {
        "kind": "stragglers",
        "base": {
            "kind": "population",
            "compute": {"kind": "mix", "types": [{"share": 1, "seconds": 0.5, "cv": 0.1}]},
            "link": {"round_trip": 0.1},
            "correlation": 0.5,
        },
    }
    devices, links = DeviceMix((DeviceType(1.0, 0.5, 0.1),)), LognormalLinks(round_trip=0.1)
    wanted = Stragglers(Population(devices, links, correlation=0.5))
    assert decode(Latency, table) == wanted
    assert decode(Latency, encode(wanted)) == wanted
    with pytest.raises(SpecError, match=r"compute\.spread: got 'phone', wanted .*'phones'"):
        decode(Latency, {"kind": "population", "compute": {"spread": "phone"}})


def test_wrappers_take_a_population() -> None:
    plain = STEADY.delays(fleet_of(3))
    delays = Stragglers(STEADY, clients=1).delays(fleet_of(3))
    ratio = delays.compute(CLIENTS, np.ones(2), 0) / plain.compute(CLIENTS, np.ones(2), 0)
    assert ratio == pytest.approx([1.0, 10.0], rel=1e-15)


@pytest.mark.slow
def test_spreads_of_a_million_clients() -> None:
    size = 10**6
    everyone = np.arange(size)
    delays = Population(correlation=0.3).delays(fleet_of(size))
    logs = -np.log(
        [
            delays.compute(everyone, np.ones(size), 0),
            delays.download(everyone, 1000, 0),
            delays.upload(everyone, 1000, 0),
        ]
    )
    jitter = np.sqrt(np.log1p(np.array([0.05, 0.37, 0.40]) ** 2))
    lasting = np.array([1.36, 0.47, 0.68])
    total = np.hypot(lasting, jitter)
    # Five standard errors: sigma / sqrt(2 size) of a spread, 1 / sqrt(size) of a correlation.
    assert np.abs(logs.std(axis=1) / total - 1).max() < 5 / np.sqrt(2 * size)
    shrunk = (lasting / total)[:, None] * (lasting / total)
    wanted = np.array([[1, 0.3, 0.135], [0.3, 1, 0.45], [0.135, 0.45, 1]]) * shrunk
    upper = np.triu_indices(3, 1)
    assert np.abs(np.corrcoef(logs)[upper] - wanted[upper]).max() < 5 / np.sqrt(size)

import numpy as np
import pytest
from scipy import stats

from driftfold.latency import (
    ConstantDevices,
    DeviceMix,
    Devices,
    DeviceType,
    FlashPhones,
    LognormalDevices,
)
from driftfold.latency.flash_phones import Workload
from driftfold.latency.lognormal_devices import SPREADS, Measured
from driftfold.rng import Seed

SCORES = Seed(3).stream("scores").normal(np.arange(20_000), 0, 1)[:, 0]
TYPES = (DeviceType(3.0, 0.5, cv=0.1), DeviceType(1.0, 2.0), DeviceType(4.0, 0.25))


def test_constant_devices_are_alike() -> None:
    pace = ConstantDevices(0.25, cv=0.1).pace(SCORES[:3])
    assert pace.seconds.tolist() == [0.25] * 3
    assert pace.jitter == pytest.approx([np.sqrt(np.log(1.01))] * 3, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "sigma"), [("phones", 1.36), ("desktops", 0.46), ("fedscale", 0.6)]
)
def test_measured_spreads_are_as_published(name: Measured, sigma: float) -> None:
    assert SPREADS[name] == sigma
    logs = np.log(LognormalDevices(0.02, name).pace(SCORES).seconds / 0.02)
    # Fixed scores, so no repeats: a correct law fails with probability 1e-4.
    assert stats.kstest(logs / sigma, "norm").pvalue > 1e-4


def test_tails_of_phones() -> None:
    tails = np.quantile(LognormalDevices(spread="phones").pace(SCORES).seconds, [0.05, 0.95])
    # The log-normal law has exp(2 * 1.645 * 1.36) = 88 where the list of phones has 60; a sample
    # of 20,000 puts each quantile's logarithm within 0.06 (3 standard errors).
    assert np.log(tails[1] / tails[0]) == pytest.approx(2 * 1.6449 * 1.36, abs=0.1)
    assert tails[1] / tails[0] > 60


def test_fedscale_stand_in_for_traces() -> None:
    # numpy.random.lognormal(1, 0.6) * 0.005 has the median 0.005 e.
    assert LognormalDevices().median == pytest.approx(0.005 * np.e, rel=1e-3)


def test_types_have_their_shares() -> None:
    pace = DeviceMix(TYPES).pace(SCORES)
    shares = [(pace.seconds == one.seconds).mean() for one in TYPES]
    # Four standard errors of a share: 4 * sqrt(1/4 / 20,000) = 0.014.
    assert shares == pytest.approx([3 / 8, 1 / 8, 4 / 8], abs=0.014)
    assert (pace.jitter > 0).tolist() == (pace.seconds == 0.5).tolist()


def test_one_type_is_everyones() -> None:
    assert DeviceMix((DeviceType(0.2, 7.0),)).pace(SCORES[:4]).seconds.tolist() == [7.0] * 4


@pytest.mark.parametrize(
    ("workload", "batch", "milliseconds"),
    [
        ("femnist", 10, (1642, 588, 179)),
        ("celeba", 10, (5392, 1355, 561)),
        ("reddit", 10, (2596, 916, 528)),
        ("shakespeare", 100, (28621, 13579, 10681)),
    ],
)
def test_flash_phones(workload: Workload, batch: int, milliseconds: tuple[int, ...]) -> None:
    pace = FlashPhones(workload).pace(SCORES)
    seconds = np.array(milliseconds) / 1000 / batch
    assert np.unique(pace.seconds) == pytest.approx(sorted(seconds), rel=1e-12)
    shares = [np.isclose(pace.seconds, one).mean() for one in seconds]
    # As above; of 0.4 % four standard errors are 0.0018.
    assert shares[:2] == pytest.approx([0.532, 0.464], abs=0.0142)
    assert shares[2] == pytest.approx(0.004, abs=0.0018)


@pytest.mark.parametrize(
    "devices",
    [ConstantDevices(1.0), LognormalDevices(), DeviceMix(TYPES), FlashPhones()],
    ids=lambda devices: type(devices).__name__,
)
def test_a_higher_score_is_a_device_at_least_as_fast(devices: Devices) -> None:
    scores = np.linspace(-4, 4, 101)
    seconds = devices.pace(scores).seconds
    assert (np.diff(seconds) <= 0).all()
    alone = [devices.pace(scores[i : i + 1]).seconds[0] for i in range(101)]
    assert seconds.tolist() == alone

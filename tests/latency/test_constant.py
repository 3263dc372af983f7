import numpy as np

from driftfold.latency import Constant
from tests.participation.fleets import fleet_of

CLIENTS = np.array([2, 0])


def test_nothing_takes_time_by_default() -> None:
    delays = Constant().delays(fleet_of(3))
    assert delays.download(CLIENTS, 10**9, 0).tolist() == [0.0, 0.0]
    assert delays.compute(CLIENTS, np.array([1e9, 1.0]), 0).tolist() == [0.0, 0.0]
    assert delays.upload(CLIENTS, 10**9, 0).tolist() == [0.0, 0.0]


def test_each_part_takes_its_own_time() -> None:
    delays = Constant(download=1.0, overhead=2.0, per_sample=0.5, upload=3.0).delays(fleet_of(3))
    assert delays.download(CLIENTS, 10, 0).tolist() == [1.0, 1.0]
    assert delays.compute(CLIENTS, np.array([4.0, 10.0]), 0).tolist() == [4.0, 7.0]
    assert delays.upload(CLIENTS, 10, 1).tolist() == [3.0, 3.0]

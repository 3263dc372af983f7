import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.latency import Constant, Lognormal, Stragglers
from tests.participation.fleets import fleet_of

CLIENTS = np.array([2, 0, 1])
SAMPLES = np.array([4.0, 10.0, 2.0])


def test_the_first_clients_compute_slowly_and_transfer_as_before() -> None:
    base = Lognormal()
    plain = base.delays(fleet_of(3))
    delays = Stragglers(base, clients=2, factor=10.0).delays(fleet_of(3))
    assert np.array_equal(delays.download(CLIENTS, 100, 4), plain.download(CLIENTS, 100, 4))
    assert np.array_equal(delays.upload(CLIENTS, 100, 4), plain.upload(CLIENTS, 100, 4))
    longer = delays.compute(CLIENTS, SAMPLES, 4) / plain.compute(CLIENTS, SAMPLES, 4)
    assert np.allclose(longer, [1.0, 10.0, 10.0], rtol=1e-15)


def test_there_cannot_be_more_stragglers_than_clients() -> None:
    with pytest.raises(SpecError, match="clients = 4, but the fleet has 3"):
        Stragglers(Constant(), clients=4).delays(fleet_of(3))

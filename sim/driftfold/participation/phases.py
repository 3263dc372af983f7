"""When a client's day begins: what the kinds with a daily rhythm share."""

import numpy as np

from driftfold.arrays import Floats
from driftfold.rng import Seed


def phases(seed: Seed, clients: int, spread: float, zones: tuple[float, ...] = (0.0,)) -> Floats:
    """Return how late each client's day is, in hours, shape (N,): a zone plus Normal(0, spread).

    Each client is in one of the zones, drawn evenly.

    >>> phases(Seed(1), clients=3, spread=0.0, zones=(-5.0,))
    array([-5., -5., -5.])
    """
    everyone = np.arange(clients)
    normal = seed.stream("participation.phase").normal(everyone, 0, 1)[:, 0]
    zone = seed.stream("participation.zone").integers(everyone, 0, 1, len(zones))[:, 0]
    late: Floats = spread * normal + np.asarray(zones, np.float64)[zone]
    return late

"""Jitter: what changes in a client's speed from dispatch to dispatch."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats, Ints
from driftfold.lanes import in_whole_vectors
from driftfold.rng import Seed

Cv = Annotated[float, Interval(ge=0, le=10)]
"""Coefficient of variation, standard deviation / mean; the bound keeps every delay finite."""

Sigma = Annotated[float, Interval(ge=0, le=10)]
"""Standard deviation of a natural logarithm; the bound keeps every delay finite."""


def log_sd(cv: float) -> float:
    """Sigma of the log-normal law with this coefficient of variation: sqrt(ln(1 + cv^2)).

    A speed and the time it leads to have the same one.

    >>> round(log_sd(0.37), 3)
    0.358
    """
    return float(np.sqrt(np.log1p(cv**2)))


def exp(x: Floats) -> Floats:
    """Return e^x, each value as in any other array."""
    return in_whole_vectors(np.exp, x)


def jittered(
    seconds: Floats,
    sigma: Floats,
    seed: Seed,
    purposes: Sequence[str],
    clients: Ints,
    dispatch: int,
) -> Floats:
    """Multiply each client's seconds by exp(sigma z), z standard normal and fresh each dispatch.

    `seconds` and `sigma` have shape (m, k), for m purposes. The median stays what it was.

    >>> clients, sigma = np.array([4, 7]), np.array([[0.0, 0.2]])
    >>> jittered(np.ones((1, 2)), sigma, Seed(1), ["latency.download"], clients, dispatch=3)[0, 0]
    np.float64(1.0)
    """
    if not sigma.any():
        return seconds
    return seconds * exp(sigma * seed.normals(purposes, clients, dispatch))

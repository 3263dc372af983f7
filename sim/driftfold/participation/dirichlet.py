"""Symmetric Dirichlet vectors from addressed random numbers."""

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.lanes import in_whole_vectors
from driftfold.rng import Seed


def dirichlet(seed: Seed, purpose: str, size: int, alpha: float) -> Floats:
    """One draw of a symmetric Dirichlet(alpha) vector, shape (size,), sum 1.

    Works with logarithms, so that a tiny `alpha` (one entry near 1) gives no 0/0.

    >>> u = dirichlet(Seed(3), "example", size=4, alpha=0.5)
    >>> u.shape, round(float(u.sum()), 12)
    ((4,), 1.0)
    """
    # Gamma(alpha) = Gamma(alpha + 1) U^(1/alpha) keeps the rejection below in its easy range.
    power = seed.stream(f"{purpose}.power").uniform(np.arange(size), 0, 1)[:, 0]
    logs = _log_gamma_draws(seed, purpose, size, alpha + 1.0)
    logs = logs + in_whole_vectors(np.log, 1.0 - power) / alpha
    weights = in_whole_vectors(np.exp, logs - logs.max())
    share: Floats = weights / weights.sum()
    return share


def _log_gamma_draws(seed: Seed, purpose: str, size: int, shape: float) -> Floats:
    """Logarithms of independent Gamma(shape) draws, shape >= 1.

    Source: Marsaglia and Tsang (2000), A simple method for generating gamma variables.
    """
    d = shape - 1 / 3
    c = 1 / np.sqrt(9 * d)
    logs = np.empty(size)
    waiting: Ints = np.arange(size)
    attempt = 0
    while waiting.size:
        z = seed.stream(f"{purpose}.normal").normal(waiting, attempt, 1)[:, 0]
        u = seed.stream(f"{purpose}.accept").uniform(waiting, attempt, 1)[:, 0]
        positive = 1 + c * z > 0
        log_v = 3 * in_whole_vectors(np.log, np.where(positive, 1 + c * z, 1.0))
        v = np.where(positive, (1 + c * z) ** 3, 1.0)
        bound = z**2 / 2 + d * (1 - v + log_v)
        accepted = positive & (in_whole_vectors(np.log, 1.0 - u) < bound)
        logs[waiting[accepted]] = np.log(d) + log_v[accepted]
        waiting = waiting[~accepted]
        attempt += 1
    return logs

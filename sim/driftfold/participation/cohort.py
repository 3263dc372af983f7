"""What the plain mean over responders minimises instead of the objective.

The mean over a random cohort S gives client i the expected weight E[1{i in S} / |S|], which is not
1/N when clients answer with unequal probabilities. These weights define the reweighted objective
whose stationary points AGS-RS and FedAvg approach.
"""

import math

import numpy as np

from driftfold.arrays import Floats
from driftfold.errors import SpecError


def cohort_weights(p: Floats, pick_one_if_empty: bool = False) -> Floats:
    """Return each client's expected weight in the mean over the responders, shape (N,).

    p~_i = E[1{i in S} / |S|] = p_i int_0^1 prod_{j != i} (1 - p_j + p_j s) ds for independent
    responses with probabilities `p`, shape (N,); sum 1 - prod_j (1 - p_j), since an empty round
    moves nothing. With `pick_one_if_empty` such a round takes one client uniformly, which adds
    prod_j (1 - p_j) / N to each. Absolute error about 1e-15. Raises `SpecError` when `p` holds no
    probabilities.

    >>> cohort_weights(np.array([0.9, 0.5, 0.1])).round(3)
    array([0.645, 0.265, 0.045])
    """
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 1 or not p.size or not bool(((p >= 0) & (p <= 1)).all()):
        raise SpecError(
            f"cohort weights need a vector of probabilities, got shape {p.shape} with values "
            f"{p.min(initial=np.inf):g} to {p.max(initial=-np.inf):g}; give one p_i in [0, 1] for "
            "each client"
        )
    nodes, node_weights = np.polynomial.legendre.leggauss(_order(p.size))
    total = np.zeros(p.size)
    for s, w in zip((nodes + 1) / 2, node_weights / 2, strict=True):
        # All factors are positive, so nothing cancels; an underflow here is an underflow there.
        factors = 1 - p + p * s
        total += w * np.prod(factors) / factors
    weights: Floats = p * total
    return weights + empty_probability(p) / p.size if pick_one_if_empty else weights


def empty_probability(p: Floats) -> float:
    """Probability that nobody answers, prod_j (1 - p_j).

    >>> round(empty_probability(np.array([0.9, 0.5, 0.1])), 12)
    0.045
    """
    return float(np.prod(1 - np.asarray(p)))


def _order(size: int) -> int:
    """Gauss-Legendre nodes for the integrals of `size` clients.

    m nodes are exact up to degree 2m - 1, and the integrand has degree N - 1. Fewer do for many
    clients: it is a mean of powers s^n, n < N (its coefficients are the law of the number of other
    responders), and the part of s^n beyond Chebyshev degree 2m is at most
    2 P(Bin(2n, 1/2) <= n - 2m) <= 2 exp(-4 m^2 / n), below 1e-17 for m = 3.2 sqrt(N).
    """
    return min(math.ceil(size / 2), math.ceil(3.2 * math.sqrt(size)))

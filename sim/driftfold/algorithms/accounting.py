"""What Gaussian noise is worth: epsilon at a given delta, by an accountant of Renyi divergences.

Mironov, I.: "Renyi differential privacy", CSF 2017; with sampling, Mironov, Talwar, Zhang: "Renyi
differential privacy of the sampled Gaussian mechanism", 2019. The arithmetic is that of Google's
package dp-accounting, which is imported when it is first needed: the extra "privacy".
"""

import math
from functools import cache
from importlib.util import find_spec

from driftfold.errors import SpecError

_ORDERS = (*range(2, 64), 80, 96, 128, 192, 256, 512, 1024)  # whole ones are cheap with sampling
_BETWEEN = tuple(1 + k / 10 for k in range(1, 100))


def require_accountant() -> None:
    """Raise `SpecError` where the package is not installed, long before it is needed."""
    if find_spec("dp_accounting") is None:
        raise SpecError(
            "the package 'dp-accounting' is needed to tell epsilon; install it with "
            "pip install 'driftfold[privacy]', or set delta to 'none' to have none told"
        )


@cache
def epsilon(multiplier: float, releases: int, delta: float, probability: float = 1.0) -> float:
    """Epsilon of `releases` sums with noise of std `multiplier` times their sensitivity.

    `probability` is that with which each client enters each sum, independently of all else and
    unknown to those who see the sums; 1 where that is not so (no amplification).
    """
    if releases == 0:
        return 0.0
    if multiplier == 0:
        return math.inf
    import dp_accounting
    from dp_accounting import rdp

    event = dp_accounting.GaussianDpEvent(multiplier)
    if probability < 1:
        event = dp_accounting.PoissonSampledDpEvent(probability, event)
    orders = _ORDERS if probability < 1 else (*_BETWEEN, *_ORDERS)
    accountant = rdp.RdpAccountant(orders)
    accountant.compose(event, releases)
    return float(accountant.get_epsilon(delta))

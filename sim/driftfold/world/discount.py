"""Discount: how staleness enters the weights of a server step."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.staleness.base import Staleness

BINS = {"0": 0, "1": 1, "2_3": 2, "4_7": 4, "8_15": 8, "16_more": 16}
"""The histogram's bins, and where each begins."""


@dataclass(frozen=True)
class Discount:
    """What a cadence makes of staleness.

    The direction of a step is the sum over arrivals of rate s(age) w_i v_i, where w_i is the
    estimator's weight and v_i the client's vector, carried to the present point.

    Attributes
    ----------
    rule
        The weight s by age.
    bound
        Ages above it count as it.
    rate
        Factor of all weights.
    share
        Whether factors are divided by their mean, so that age moves weight between clients and
        does not shorten the step.
    models
        Whether end points count as models: their vectors go from the present point to them, not
        from the point that was downloaded.
    """

    rule: Staleness
    bound: int | None = None
    rate: float = 1.0
    share: bool = False
    models: bool = False

    def factors(self, ages: Ints) -> Floats:
        """Factors of weights at ages (k,), server steps since the download."""
        factors = self.rule.weight(ages if self.bound is None else np.minimum(ages, self.bound))
        if self.share:
            factors = factors / (factors.mean() or 1.0)
        return self.rate * factors


def figures(ages: Ints, factors: Floats) -> Mapping[str, float]:
    """What a round's record tells of ages and factors, each of shape (k,).

    >>> told = figures(np.array([0, 0, 1, 5]), np.ones(4))
    >>> told["staleness_mean"], told["stale_0"], told["stale_4_7"]
    (1.5, 2.0, 1.0)
    """
    counts = np.bincount(np.searchsorted([*BINS.values()], ages, "right") - 1, minlength=len(BINS))
    return {
        "staleness_mean": float(ages.mean()),
        "staleness_max": float(ages.max()),
        "staleness_factor": float(factors.mean()),
        **{f"stale_{name}": float(n) for name, n in zip(BINS, counts, strict=True)},
    }

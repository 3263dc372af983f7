"""Means of a few seeds, with intervals.

Papers average gaps over seeds, and so do tables: `average`, with a bootstrap, since gaps are not
normally spread. Ratios of two arms, taken seed by seed, are averaged as factors: `geometric_mean`,
with Student's t on the logarithms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from driftfold.arrays import Floats
from driftfold.rng import Seed

CONFIDENCE = 0.95
_RESAMPLES = 4000


@dataclass(frozen=True)
class Interval:
    """A mean over seeds and the interval that holds the true one with 95 % confidence.

    Attributes
    ----------
    centre
        The mean.
    low, high
        Ends of the interval; NaN where one seed alone tells no spread.
    seeds
        How many values there are.
    """

    centre: float
    low: float
    high: float
    seeds: int

    @property
    def known(self) -> bool:
        """Whether there is an interval at all."""
        return not math.isnan(self.low)

    def raised(self) -> "Interval":
        """Return ten to the power of an interval of logarithms."""
        return Interval(10.0**self.centre, 10.0**self.low, 10.0**self.high, self.seeds)


def average(values: Sequence[float] | Floats) -> Interval:
    """Return the arithmetic mean, with the percentile interval of a bootstrap over the seeds.

    With three seeds the interval is about their range.

    >>> average([1.0, 2.0, 6.0])
    Interval(centre=3.0, low=1.0, high=6.0, seeds=3)
    """
    x = np.asarray(values, dtype=np.float64)
    n = len(x)
    if n < 2:
        return Interval(float(x.mean()), math.nan, math.nan, n)
    drawn = Seed(0).stream("bootstrap").integers(n, np.arange(_RESAMPLES), n, n)
    means = x[drawn].mean(axis=1)
    low, high = np.quantile(means, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2])
    return Interval(float(x.mean()), float(low), float(high), n)


def mean(values: Sequence[float] | Floats) -> Interval:
    """Return the arithmetic mean of normally spread values, with Student's interval.

    >>> mean([1.0, 2.0, 3.0])
    Interval(centre=2.0, low=-0.484..., high=4.484..., seeds=3)
    """
    x = np.asarray(values, dtype=np.float64)
    centre, n = float(x.mean()), len(x)
    if n < 2:
        return Interval(centre, math.nan, math.nan, n)
    half = quantile(0.5 + CONFIDENCE / 2, n - 1) * float(x.std(ddof=1)) / math.sqrt(n)
    return Interval(centre, centre - half, centre + half, n)


def geometric_mean(values: Sequence[float] | Floats) -> Interval:
    """Return the geometric mean of positive values: Student's interval of their logarithms.

    A value of 0 or below, which rounding may give at the optimum, has no logarithm: then the
    arithmetic mean is returned.

    >>> geometric_mean([1.0, 100.0]).centre
    10.0
    """
    x = np.asarray(values, dtype=np.float64)
    if not (x > 0).all():
        return mean(x)
    logs = mean(np.log10(x))
    return logs.raised()


@cache
def quantile(p: float, freedom: int) -> float:
    """Quantile of Student's t with a whole number of degrees of freedom, 0.5 <= p < 1.

    >>> round(quantile(0.975, 2), 4), round(quantile(0.975, 9), 4)
    (4.3027, 2.2622)
    """
    low, high = 0.0, 1.0
    while cumulative(high, freedom) < p:
        high *= 2
    for _ in range(100):  # bisection to the last bit
        middle = (low + high) / 2
        low, high = (middle, high) if cumulative(middle, freedom) < p else (low, middle)
    return (low + high) / 2


def cumulative(t: float, freedom: int) -> float:
    """P(T <= t) of Student's t, t >= 0: Abramowitz and Stegun, 26.7.3 and 26.7.4.

    >>> round(cumulative(2.2622, 9), 4)
    0.975
    """
    angle = math.atan2(t, math.sqrt(freedom))
    cos, sin = math.cos(angle), math.sin(angle)
    if freedom % 2:
        term, total = cos, cos if freedom > 1 else 0.0
        for k in range(3, freedom - 1, 2):
            term *= cos * cos * (k - 1) / k
            total += term
        return 0.5 + (angle + sin * total) / math.pi
    term, total = 1.0, 1.0
    for k in range(2, freedom - 1, 2):
        term *= cos * cos * (k - 1) / k
        total += term
    return 0.5 + sin * total / 2

"""Cosines of means without the bias of finite batches.

The squared length of a mean of n samples is too large by their variance over n, so that two batches
of one distribution seem to point apart. With U-statistics for the squared lengths the mean of
1 - cos is nearly 0 where nothing moved; its scatter stays.
"""

from abc import abstractmethod

import numpy as np

from driftfold.arrays import Floats
from driftfold.signals.base import Observed, Signal
from driftfold.signals.cosine import inner
from driftfold.signals.means import mean, unbiased_square
from driftfold.trees import node

_LEAST = 1e-9
"""Squared lengths below tell nothing: S is 0."""


@node
class Debiased:
    """Of each client.

    Attributes
    ----------
    middle
        Mean of the last batch, (k, m).
    square
        Unbiased squared length of what it is the mean of, (k,).
    pooled
        Pooled product of this mean and the last, and squared lengths of the two, (k, 3).
    """

    middle: Floats
    square: Floats
    pooled: Floats


class DebiasedComparison(Signal[Debiased]):
    """1 - cos~ of batch means, cos~ = m . m' / sqrt(N N'), or half of it."""

    pool: int
    half: bool = False
    """Whether directions may be opposite: then 1 - cos~ is halved to lie in [0, 1]."""

    @abstractmethod
    def samples(self, observed: Observed) -> Floats:
        """Vectors (k, n, m) whose means are compared."""

    def compare(self, memory: Debiased, observed: Observed) -> tuple[Floats, Debiased]:
        """Return 1 - cos~, and the new mean."""
        now = self.replace(memory, observed)
        fresh = np.stack([inner(memory.middle, now.middle), memory.square, now.square], axis=-1)
        share = 1.0 / self.pool
        pooled = fresh if self.pool == 1 else (1 - share) * memory.pooled + share * fresh
        pooled = np.where(observed.seen[:, None], pooled, 0.0)
        moved = unbiased_distance(pooled) * (0.5 if self.half else 1.0)
        return np.clip(moved, 0.0, 1.0), Debiased(now.middle, now.square, pooled)

    def replace(self, memory: Debiased, observed: Observed) -> Debiased:
        """Return the mean and its unbiased squared length."""
        samples = self.samples(observed)
        middle = mean(samples)
        return Debiased(middle, unbiased_square(samples, middle), memory.pooled)


def nothing_seen(size: int) -> Debiased:
    """Memory of one client before its first batch, of vectors of `size` entries."""
    return Debiased(np.zeros(size), np.zeros(()), np.zeros(3))


def unbiased_distance(pooled: Floats) -> Floats:
    """1 - cos~, shape (k,), of products and two squared lengths (k, 3); it may be negative.

    >>> unbiased_distance(np.array([[0.5, 1.0, 1.0], [0.5, 0.0, 1.0]]))
    array([0.5, 0. ])
    """
    product, before, now = np.moveaxis(pooled, -1, 0)
    unknown = (before <= _LEAST) | (now <= _LEAST)
    length = np.sqrt(np.where(unknown, 1.0, before)) * np.sqrt(np.where(unknown, 1.0, now))
    return np.where(unknown, 0.0, 1.0 - product / length)

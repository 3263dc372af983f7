"""The total variation of mean predictions, in place of their cosine."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Sizes
from driftfold.signals.comparison import Comparison
from driftfold.signals.means import mean, votes


@register("total_variation")
@dataclass(frozen=True)
class TotalVariation(Comparison):
    """Half of sum_k |q_t,k - q_(t-1),k|: the Wasserstein distance of classes without an order.

    Attributes
    ----------
    hard
        Whether q is the shares of the most likely classes instead of the mean of probabilities.

    Examples
    --------
    >>> TotalVariation().distance(np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]]))
    array([0.4])
    """

    hard: bool = False

    def begin(self, sizes: Sizes) -> Floats:
        """No predictions yet."""
        return np.zeros(sizes.classes)

    def summary(self, observed: Observed) -> Floats:
        """Return q."""
        return mean(votes(observed.probabilities, self.hard))

    def distance(self, before: Floats, now: Floats) -> Floats:
        """Return half the sum of differences."""
        moved: Floats = 0.5 * np.abs(now - before).sum(axis=-1)
        return moved

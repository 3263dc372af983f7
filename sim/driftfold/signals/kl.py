"""The Kullback-Leibler divergence of mean predictions, in place of their cosine."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register
from driftfold.signals.base import Observed, Sizes
from driftfold.signals.comparison import Comparison
from driftfold.signals.cosine import inner
from driftfold.signals.means import mean, votes


@register("kl")
@dataclass(frozen=True)
class Kl(Comparison):
    """1 - exp(-KL(q_t || q_(t-1))) of smoothed mean predictions: a row of Fed-ADE's ablation.

    Attributes
    ----------
    hard
        Whether q is the shares of the most likely classes instead of the mean of probabilities.
    smoothing
        What is added to each share before they are divided by their sum.

    Examples
    --------
    >>> q = np.array([[0.5, 0.5], [0.9, 0.1]])
    >>> Kl().distance(q, q[::-1]).round(4)  # one of 0.3681 nats, one of 0.5108
    array([0.3079, 0.4   ])
    """

    hard: bool = False
    smoothing: Annotated[float, Gt(0)] = 1e-6

    def begin(self, sizes: Sizes) -> Floats:
        """No predictions yet."""
        return np.zeros(sizes.classes)

    def summary(self, observed: Observed) -> Floats:
        """Return q."""
        return mean(votes(observed.probabilities, self.hard))

    def distance(self, before: Floats, now: Floats) -> Floats:
        """Return 1 - exp(-KL)."""
        p, q = self._smoothed(now), self._smoothed(before)
        divergence = inner(p, in_whole_vectors(np.log, p / q))
        return -in_whole_vectors(np.expm1, -divergence)

    def _smoothed(self, q: Floats) -> Floats:
        more = q + self.smoothing
        shares: Floats = more / more.sum(axis=-1, keepdims=True)
        return shares

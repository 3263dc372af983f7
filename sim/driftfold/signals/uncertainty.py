"""How much a client's mean prediction turned: S_unc of Fed-ADE (arXiv 2603.01040)."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Sizes
from driftfold.signals.comparison import Comparison
from driftfold.signals.cosine import cosine_distance
from driftfold.signals.means import mean, votes


@register("uncertainty")
@dataclass(frozen=True)
class Uncertainty(Comparison):
    """1 - cos of the mean predictions q of this batch and the last one, from 0 to 1.

    Two finite batches of one distribution differ, too: without any drift it is about
    (K - 1) / (n + K - 1), see `noise_floor`.

    Attributes
    ----------
    hard
        Whether q is the shares of the most likely classes, as in the paper's scripts, instead of
        the mean of probabilities.

    Examples
    --------
    >>> signal, shown = Uncertainty(), np.ones((1, 2, 3))
    >>> before = Observed(np.eye(2)[[[0, 1]]], shown, gap=np.array([0]))
    >>> now = Observed(np.eye(2)[[[0, 0]]], shown, gap=np.array([1]))
    >>> s, memory = signal.measure(signal.begin(Sizes(2, 3))[None], before)
    >>> s, signal.measure(memory, now)[0].round(6)
    (array([0.]), array([0.292893]))
    """

    hard: bool = False

    def begin(self, sizes: Sizes) -> Floats:
        """No predictions yet."""
        return np.zeros(sizes.classes)

    def summary(self, observed: Observed) -> Floats:
        """Return q."""
        return mean(votes(observed.probabilities, self.hard))

    def distance(self, before: Floats, now: Floats) -> Floats:
        """Return 1 - cos."""
        return cosine_distance(before, now)

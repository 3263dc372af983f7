"""How much a client's mean feature turned: S_rep of Fed-ADE (arXiv 2603.01040)."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Sizes
from driftfold.signals.comparison import Comparison
from driftfold.signals.cosine import cosine_distance
from driftfold.signals.means import directions, mean


@register("representation")
@dataclass(frozen=True)
class Representation(Comparison):
    """(1 - cos) / 2 of the mean directions z of this batch's features and the last one's.

    It is at most 1/2 where features are not negative, as after a ReLU; and 0 where z vanishes.

    >>> signal, said = Representation(), np.ones((1, 1, 2)) / 2
    >>> before = Observed(said, np.array([[[2.0, 0.0]]]), gap=np.array([0]))
    >>> now = Observed(said, np.array([[[0.0, 5.0]]]), gap=np.array([1]))
    >>> _, memory = signal.measure(signal.begin(Sizes(2, 2))[None], before)
    >>> signal.measure(memory, now)[0]
    array([0.5])
    """

    def begin(self, sizes: Sizes) -> Floats:
        """No features yet."""
        return np.zeros(sizes.features)

    def summary(self, observed: Observed) -> Floats:
        """Return z."""
        return mean(directions(observed.features))

    def distance(self, before: Floats, now: Floats) -> Floats:
        """Return (1 - cos) / 2."""
        return 0.5 * cosine_distance(before, now)

"""The distance of mean features, in place of their cosine."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Sizes
from driftfold.signals.comparison import Comparison
from driftfold.signals.cosine import inner
from driftfold.signals.means import directions, mean


@register("feature_distance")
@dataclass(frozen=True)
class FeatureDistance(Comparison):
    """||z_t - z_(t-1)|| / 2 of the mean directions z of features.

    The Wasserstein distance of the two batches' directions is at least twice that, and as much
    where all move alike.

    >>> FeatureDistance().distance(np.array([[0.6, 0.0]]), np.array([[0.0, 0.8]]))
    array([0.5])
    """

    def begin(self, sizes: Sizes) -> Floats:
        """No features yet."""
        return np.zeros(sizes.features)

    def summary(self, observed: Observed) -> Floats:
        """Return z."""
        return mean(directions(observed.features))

    def distance(self, before: Floats, now: Floats) -> Floats:
        """Return half the distance."""
        return 0.5 * np.sqrt(inner(now - before, now - before))

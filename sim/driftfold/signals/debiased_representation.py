"""How much a client's mean feature turned, without the bias of finite batches."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Sizes
from driftfold.signals.debiased import Debiased, DebiasedComparison, nothing_seen
from driftfold.signals.means import directions


@register("debiased_representation")
@dataclass(frozen=True)
class DebiasedRepresentation(DebiasedComparison):
    """(1 - cos~) / 2 of the mean directions of this batch's features and the last one's.

    Attributes
    ----------
    pool
        Batches, about, over which products and squared lengths are averaged before they are
        divided.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.trees import spread
    >>> signal, said = DebiasedRepresentation(), np.ones((1, 2, 2)) / 2
    >>> memory = spread(signal.begin(Sizes(2, 2)), 1)
    >>> for x, gap in (([1.0, 0.0], 0), ([0.0, 1.0], 1)):
    ...     batch = Observed(said, np.array([[x, x]]), np.array([gap]))
    ...     s, memory = signal.measure(memory, batch)
    >>> s
    array([0.5])
    """

    pool: Annotated[int, Gt(0)] = 1
    half = True

    def begin(self, sizes: Sizes) -> Debiased:
        """No features yet."""
        return nothing_seen(sizes.features)

    def samples(self, observed: Observed) -> Floats:
        """Return the direction of each sample's features."""
        return directions(observed.features)

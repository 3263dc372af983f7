"""How much a client's mean prediction turned, without the bias of finite batches."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Sizes
from driftfold.signals.debiased import Debiased, DebiasedComparison, nothing_seen
from driftfold.signals.means import votes


@register("debiased_uncertainty")
@dataclass(frozen=True)
class DebiasedUncertainty(DebiasedComparison):
    """1 - cos~ of the mean predictions of this batch and the last one, cut off at 0 and 1.

    Attributes
    ----------
    hard
        Whether predictions are the most likely classes instead of probabilities.
    pool
        Batches, about, over which products and squared lengths are averaged before they are
        divided; for many classes and few samples the ratio of single ones scatters widely.

    Examples
    --------
    >>> import numpy as np
    >>> signal, shown = DebiasedUncertainty(hard=True), np.ones((1, 4, 3))
    >>> from driftfold.trees import spread
    >>> memory = spread(signal.begin(Sizes(2, 3)), 1)
    >>> for classes, gap in (([0, 0, 0, 1], 0), ([0, 0, 1, 1], 1)):
    ...     batch = Observed(np.eye(2)[[classes]], shown, np.array([gap]))
    ...     s, memory = signal.measure(memory, batch)
    >>> s  # the plain signal says 0.106
    array([0.])
    """

    hard: bool = False
    pool: Annotated[int, Gt(0)] = 1

    def begin(self, sizes: Sizes) -> Debiased:
        """No predictions yet."""
        return nothing_seen(sizes.classes)

    def samples(self, observed: Observed) -> Floats:
        """Return what each sample says."""
        return votes(observed.probabilities, self.hard)

"""A signal less what it says between the halves of one batch."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Signal, Sizes


@register("split_half")
@dataclass(frozen=True)
class SplitHalf(Signal[Any]):
    """S less `share` times S between two halves of the present batch, cut off at 0.

    The halves are every other sample: a stream's batches are in random order. They need neither
    source data nor memory. Having half the samples they are up to twice as noisy as whole batches:
    `share` 1 is a cautious control, 0.5 leaves no drift at about 0 where the noise is small.

    Attributes
    ----------
    signal
        What is measured twice.
    share
        How much of the halves' signal is taken off.

    Examples
    --------
    >>> from driftfold.signals.uncertainty import Uncertainty
    >>> signal, shown = SplitHalf(Uncertainty()), np.ones((1, 4, 3))
    >>> memory = signal.begin(Sizes(2, 3))[None]
    >>> for classes, gap in (([0, 1, 0, 1], 0), ([0, 0, 0, 1], 1)):
    ...     batch = Observed(np.eye(2)[[classes]], shown, np.array([gap]))
    ...     s, memory = signal.measure(memory, batch)
    >>> s  # 0.106 between the batches, 0.293 between the halves
    array([0.])
    """

    signal: Signal[Any]
    share: Annotated[float, Gt(0)] = 1.0

    def begin(self, sizes: Sizes) -> Any:
        """Return the signal's own memory."""
        return self.signal.begin(sizes)

    def compare(self, memory: Any, observed: Observed) -> tuple[Floats, Any]:
        """Return the difference; a single sample has no halves."""
        s, seen = self.signal.measure(memory, observed)
        if observed.probabilities.shape[1] < 2:
            return s, seen
        halves = [observed.samples(slice(start, None, 2)) for start in range(2)]
        between, _ = self.signal.measure(self.signal.recall(memory, halves[0]), halves[1])
        return np.clip(s - self.share * between, 0.0, 1.0), seen

    def replace(self, memory: Any, observed: Observed) -> Any:
        """Pass on."""
        return self.signal.recall(memory, observed)

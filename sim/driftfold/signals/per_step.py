"""A signal per step, for clients that were away."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Signal, Sizes


@register("per_step")
@dataclass(frozen=True)
class PerStep(Signal[Any]):
    """S / g, with g the steps since the client's last batch: the speed of drift, not its extent.

    What finite batches alone differ by does not grow with g: take it off before.

    Attributes
    ----------
    signal
        What is divided.

    Examples
    --------
    >>> from driftfold.signals.uncertainty import Uncertainty
    >>> signal, shown = PerStep(Uncertainty()), np.ones((1, 1, 3))
    >>> before = Observed(np.eye(2)[[[0]]], shown, np.array([0]))
    >>> _, memory = signal.measure(signal.begin(Sizes(2, 3))[None], before)
    >>> signal.measure(memory, Observed(np.eye(2)[[[1]]], shown, np.array([4])))[0]
    array([0.25])
    """

    signal: Signal[Any]

    def begin(self, sizes: Sizes) -> Any:
        """Return the signal's own memory."""
        return self.signal.begin(sizes)

    def compare(self, memory: Any, observed: Observed) -> tuple[Floats, Any]:
        """Divide."""
        s, seen = self.signal.measure(memory, observed)
        return s / np.maximum(observed.gap, 1), seen

    def replace(self, memory: Any, observed: Observed) -> Any:
        """Pass on."""
        return self.signal.recall(memory, observed)

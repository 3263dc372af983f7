"""Several signals as one."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from annotated_types import MinLen

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Signal, Sizes
from driftfold.signals.combination import SignalCombination
from driftfold.signals.weighted_mean import WeightedMean
from driftfold.trees import node


@node
class Parts:
    """Of each client: what each signal said of the last batch, (k, m), and their memories."""

    values: Floats
    inner: tuple[Any, ...]


@register("combined")
@dataclass(frozen=True)
class Combined(Signal[Parts]):
    """One signal of several. What they said one by one is in the memory: `values`.

    Attributes
    ----------
    signals
        What is combined.
    by
        How.

    Examples
    --------
    >>> from driftfold.signals.representation import Representation
    >>> from driftfold.signals.uncertainty import Uncertainty
    >>> from driftfold.trees import spread
    >>> signal = Combined((Uncertainty(), Representation()))  # Fed-ADE's S
    >>> memory, shown = spread(signal.begin(Sizes(2, 3)), 1), np.ones((1, 1, 3))
    >>> for step in range(2):
    ...     batch = Observed(np.eye(2)[[[step]]], shown, np.array([step]))
    ...     s, memory = signal.measure(memory, batch)
    >>> s, memory.values
    (array([0.5]), array([[1., 0.]]))
    """

    signals: Annotated[tuple[Signal[Any], ...], MinLen(1)]
    by: SignalCombination = field(default_factory=WeightedMean)

    def begin(self, sizes: Sizes) -> Parts:
        """Nothing said yet."""
        inner = tuple(signal.begin(sizes) for signal in self.signals)
        return Parts(np.zeros(len(self.signals)), inner)

    def compare(self, memory: Parts, observed: Observed) -> tuple[Floats, Parts]:
        """Measure each, and combine."""
        said = [s.measure(m, observed) for s, m in zip(self.signals, memory.inner, strict=True)]
        values = np.stack([value for value, _ in said], axis=-1)
        combined = np.clip(self.by.combine(values, observed), 0.0, 1.0)
        return combined, Parts(values, tuple(seen for _, seen in said))

    def replace(self, memory: Parts, observed: Observed) -> Parts:
        """Pass on."""
        inner = zip(self.signals, memory.inner, strict=True)
        return Parts(memory.values, tuple(s.recall(m, observed) for s, m in inner))


def said_one_by_one(memory: Any) -> Floats | None:
    """What the parts of a combined signal said last, (k, m), also where wrappers are around it.

    None where nothing is combined.

    >>> from driftfold.signals.jump_memory import JumpMemory
    >>> from driftfold.signals.uncertainty import Uncertainty
    >>> memory = JumpMemory(Combined((Uncertainty(), Uncertainty()))).begin(Sizes(3, 4))
    >>> said_one_by_one(memory)
    array([0., 0.])
    """
    while memory is not None and not isinstance(memory, Parts):
        memory = getattr(memory, "inner", None)
    return None if memory is None else memory.values

"""A signal that stays up for some steps after a jump."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Lt

from driftfold.arrays import Floats
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register
from driftfold.signals.base import Observed, Signal, Sizes
from driftfold.trees import node


@node
class LastSignal:
    """Of each client: the last effective signal, (k,), and the signal's own memory."""

    last: Floats
    inner: Any


@register("jump_memory")
@dataclass(frozen=True)
class JumpMemory(Signal[LastSignal]):
    """max(S, keep^g S_eff of the last batch), g the steps since then.

    The moment after a jump two batches look alike again, and the model is still where it was.

    Attributes
    ----------
    signal
        What is remembered.
    keep
        Share of the last effective signal that is left after a step.

    Examples
    --------
    >>> from driftfold.signals.uncertainty import Uncertainty
    >>> from driftfold.trees import spread
    >>> signal, shown = JumpMemory(Uncertainty(), keep=0.5), np.ones((1, 1, 3))
    >>> memory, told = spread(signal.begin(Sizes(2, 3)), 1), []
    >>> for step, label in enumerate([0, 0, 1, 1, 1]):
    ...     batch = Observed(np.eye(2)[[[label]]], shown, np.array([min(step, 1)]))
    ...     s, memory = signal.measure(memory, batch)
    ...     told.append(float(s[0]))
    >>> told
    [0.0, 0.0, 1.0, 0.5, 0.25]
    """

    signal: Signal[Any]
    keep: Annotated[float, Gt(0), Lt(1)] = 0.7

    def begin(self, sizes: Sizes) -> LastSignal:
        """No jump yet."""
        return LastSignal(np.zeros(()), self.signal.begin(sizes))

    def compare(self, memory: LastSignal, observed: Observed) -> tuple[Floats, LastSignal]:
        """Return the larger of the two."""
        s, inner = self.signal.measure(memory.inner, observed)
        left = in_whole_vectors(_power, np.full(len(s), self.keep), observed.gap.astype(float))
        effective = np.where(observed.seen, np.maximum(s, left * memory.last), 0.0)
        return effective, LastSignal(effective, inner)

    def replace(self, memory: LastSignal, observed: Observed) -> LastSignal:
        """Pass on: what was remembered of jumps stays."""
        return LastSignal(memory.last, self.signal.recall(memory.inner, observed))


def _power(base: Floats, exponent: Floats) -> Floats:
    return np.asarray(base**exponent, np.float64)

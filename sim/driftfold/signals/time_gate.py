"""A weight that moves from the first signal to the second as a run goes on."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.signals.base import Observed
from driftfold.signals.combination import SignalCombination


@register("time_gate")
@dataclass(frozen=True)
class TimeGate(SignalCombination):
    """w S_1 + (1 - w) S_2 with w = max(least, 1 - t / (T - 1)).

    Fed-ADE's scripts (arXiv 2603.01040) define such a gate of S_unc against S_rep.

    Attributes
    ----------
    least
        Weight of the first signal at the end.

    Examples
    --------
    >>> now = Observed(np.ones((1, 1, 2)) / 2, np.ones((1, 1, 3)), np.array([1]), progress=0.25)
    >>> TimeGate().combine(np.array([[0.4, 0.8]]), now)
    array([0.5])
    """

    least: Annotated[float, Ge(0), Le(1)] = 0.1

    def combine(self, values: Floats, observed: Observed) -> Floats:
        """Weigh by progress."""
        if values.shape[-1] != 2:
            raise SpecError(
                f"combination 'time_gate' weighs one signal against another, got "
                f"{values.shape[-1]}; give it two"
            )
        w = np.maximum(self.least, 1.0 - np.asarray(observed.progress, np.float64))
        gated: Floats = w * values[:, 0] + (1.0 - w) * values[:, 1]
        return gated

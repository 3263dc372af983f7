"""The mean of signals."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.signals.base import Observed
from driftfold.signals.combination import SignalCombination


@register("mean")
@dataclass(frozen=True)
class WeightedMean(SignalCombination):
    """sum_i w_i S_i / sum_i w_i: Fed-ADE's S with equal weights (arXiv 2603.01040).

    Attributes
    ----------
    weights
        One for each signal; none given: all equal.

    Examples
    --------
    >>> said, shown = np.ones((1, 1, 2)) / 2, np.ones((1, 1, 3))
    >>> now = Observed(said, shown, np.array([1]))
    >>> WeightedMean().combine(np.array([[0.2, 0.6]]), now)
    array([0.4])
    """

    weights: tuple[Annotated[float, Ge(0)], ...] = ()

    def combine(self, values: Floats, observed: Observed) -> Floats:
        """Return the mean."""
        weights = np.array(self.weights or (1.0,) * values.shape[-1])
        if weights.shape != values.shape[-1:] or not weights.sum() > 0:
            raise SpecError(
                f"got the weights {list(self.weights)} for {values.shape[-1]} signals; wanted one "
                "for each, not all 0"
            )
        mean: Floats = (values * weights).sum(axis=-1) / weights.sum()
        return mean

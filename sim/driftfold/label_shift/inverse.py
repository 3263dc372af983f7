"""The plain inverse: black box shift estimation."""

from dataclasses import dataclass
from typing import Any

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.simplex import Fix, fixed
from driftfold.label_shift.solving import solved
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import register


@register("inverse")
@dataclass(frozen=True)
class Inverse(LabelEstimate[None]):
    """p = M^-1 g, with g the shares of the predicted classes in the batch.

    Lipton, Z. C., Wang, Y.-X., Smola, A.: "Detecting and correcting for label shift with black box
    predictors", ICML 2018 (BBSE). Unbiased before `fix` where p(x | y) is as in the source; entries
    sum to 1 since the columns of M do, and may be negative.

    Attributes
    ----------
    fix
        What to do with negative entries: "clip" cuts them off and renormalises, "simplex" projects
        onto the simplex, "none" leaves them.

    Examples
    --------
    >>> import numpy as np
    >>> m = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> source = SourceFacts(m, np.array([0.5, 0.5]), np.eye(2), np.arange(2))
    >>> batch = np.eye(2)[[[0] * 19 + [1]]]
    >>> Inverse(fix="none").estimate(None, source, batch)[0].round(6)
    array([[ 1.071429, -0.071429]])
    >>> Inverse().estimate(None, source, batch)[0]
    array([[1., 0.]])
    """

    fix: Fix = "clip"

    def begin(self, source: SourceFacts) -> None:
        """Nothing to remember."""

    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, None]:
        """Solve M p = g."""
        p = solved(source.confusion, source.predicted(predictions))
        return fixed(p, self.fix), None

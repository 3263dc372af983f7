"""Regularised learning under label shifts: weights that stay near 1 unless the data insist.

Azizzadenesheli, K., Liu, A., Yang, F., Anandkumar, A.: "Regularized learning for domain adaptation
under label shifts", ICLR 2019, equation (5) and theorem 1.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.simplex import clip_renormalise
from driftfold.label_shift.source import SourceFacts
from driftfold.label_shift.two_norms import two_norms
from driftfold.registry import register


@register("rlls")
@dataclass(frozen=True)
class Rlls(LabelEstimate[None]):
    """w = argmin ||C w - g|| + rho ||w - 1|| over w >= 0, C = M diag(pi_0), and p = w pi_0.

    Neither norm is squared: where C is well-conditioned and M^-1 g has no negative entry, that is
    what comes out, and else as little of a shift as explains g nearly as well. In the paper's
    letters theta = w - 1, with g less what the model predicts on the source.

    Attributes
    ----------
    delta
        Confidence at which the error of C is bounded, by `rlls_radius`.
    scale
        rho is this times the bound: the bound itself would leave hardly any shift.

    Examples
    --------
    >>> m = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> source = SourceFacts(m, np.array([0.5, 0.5]), np.eye(2), np.arange(2))
    >>> Rlls().estimate(None, source, np.eye(2)[[[0] * 11 + [1] * 9]])[0].round(6)
    array([[0.5, 0.5]])
    """

    delta: Annotated[float, Gt(0), Lt(1)] = 0.05
    scale: Annotated[float, Ge(0)] = 0.01

    def begin(self, source: SourceFacts) -> None:
        """Nothing to remember."""

    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, None]:
        """Solve the second-order cone problem."""
        rho = self.scale * rlls_radius(source.classes, source.samples, self.delta)
        g = source.predicted(predictions)
        joint = np.broadcast_to(source.confusion * source.prior, (len(g), *[source.classes] * 2))
        return clip_renormalise(two_norms(joint, g, rho) * source.prior), None


def rlls_radius(classes: int, samples: int, delta: float) -> float:
    """Bound on the error of C from `samples` held-out examples, at confidence 1 - delta.

    >>> round(rlls_radius(10, 10_000, 0.05), 6)
    0.105047
    """
    log = math.log(2 * classes / delta)
    return 3 * (2 * log / (3 * samples) + math.sqrt(2 * log / samples))

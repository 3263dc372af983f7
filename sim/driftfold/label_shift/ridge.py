"""The inverse with a ridge: for confusion matrices that have nearly none."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.simplex import fixed
from driftfold.label_shift.solving import solved
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import register


@register("ridge")
@dataclass(frozen=True)
class Ridge(LabelEstimate[None]):
    """p from (M'M + strength I) p = M'g, or the same of weights p / pi_0 and joint shares.

    The second form is that of the code of Lipton, Wang and Smola (ICML 2018), C = M diag(pi_0).

    Attributes
    ----------
    strength
        Of the ridge; None is 1 / min(held-out examples, n), as in that code.
    of
        "shares" solves for p, "weights" for p / pi_0.
    fix
        What to do with negative entries: "clip" cuts them off and renormalises, "simplex" projects
        onto the simplex. The ridge pulls towards 0, so that entries would not sum to 1 without it.

    Examples
    --------
    >>> m = np.array([[1.0, 1.0], [0.0, 0.0]])  # predicts the first class, whatever it sees
    >>> source = SourceFacts(m, np.array([0.5, 0.5]), np.eye(2), np.arange(2))
    >>> Ridge().estimate(None, source, np.eye(2)[[[0, 0, 0]]])[0]
    array([[0.5, 0.5]])
    """

    strength: Annotated[float, Gt(0)] | None = None
    of: Literal["shares", "weights"] = "shares"
    fix: Literal["clip", "simplex"] = "clip"

    def begin(self, source: SourceFacts) -> None:
        """Nothing to remember."""

    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, None]:
        """Solve the normal equations."""
        scale = source.prior if self.of == "weights" else np.ones(source.classes)
        a = source.confusion * scale
        strength = self.strength or 1.0 / min(source.samples, predictions.shape[1])
        transposed = np.swapaxes(a, -1, -2)
        right = transposed @ source.predicted(predictions)[..., None]
        p = solved(transposed @ a + strength * np.eye(source.classes), right[..., 0]) * scale
        return fixed(p, self.fix), None

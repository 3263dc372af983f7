"""Maximum likelihood by expectation maximisation, with extrapolation.

Saerens, M., Latinne, P., Decaestecker, C.: "Adjusting the outputs of a classifier to new a priori
probabilities", Neural Computation 2002; with calibrated probabilities Alexandari, Kundaje and
Shrikumar, ICML 2020 (MLLS).
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.mixture import likeliest
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import register


@register("em")
@dataclass(frozen=True)
class Em(LabelEstimate[None]):
    """p <- mean of f(x) p / pi_0, each normalised, from p = pi_0: the likeliest p.

    It needs no confusion matrix and is always on the simplex, but takes probabilities for what they
    say. The likelihood is concave; with fewer samples than classes the likeliest p need not be the
    only one. Classes that the source did not have stay at 0.

    Attributes
    ----------
    calibrate
        Whether probabilities are calibrated first, by a bias-corrected temperature that is fitted
        on the held-out source examples.
    tolerance
        Sum of absolute changes by a plain iteration at which to stop.
    iterations
        Iterations at most.

    Examples
    --------
    >>> source = SourceFacts(np.eye(2), np.array([0.5, 0.5]), np.eye(2), np.arange(2))
    >>> batch = np.array([[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.4, 0.6]]])
    >>> Em(calibrate=False).estimate(None, source, batch)[0].round(5)
    array([[1., 0.]])
    """

    calibrate: bool = True
    tolerance: Annotated[float, Gt(0)] = 1e-6
    iterations: Annotated[int, Gt(0)] = 10_000

    def begin(self, source: SourceFacts) -> None:
        """Nothing to remember."""

    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, None]:
        """Iterate, each client until it has come to rest."""
        known = source.prior > 0
        said = source.calibrated(predictions) if self.calibrate else predictions
        ratios = said * np.where(known, 1.0 / np.where(known, source.prior, 1.0), 0.0)
        start = np.tile(source.prior / source.prior.sum(), (len(predictions), 1))
        return likeliest(ratios, start, self.tolerance, self.iterations), None

"""What is known of the source: how often each class was there, and what the model takes for what.

It is measured once, from labelled examples that the model was not trained on.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats, Ints
from driftfold.label_shift.confusion import confusion_matrix
from driftfold.label_shift.examples import examples_of_classes
from driftfold.label_shift.histogram import histogram
from driftfold.label_shift.temperature import Calibration, bias_corrected_temperature


@dataclass(frozen=True, eq=False)
class SourceFacts:
    """Facts about the source, for estimates of how far labels have shifted from it.

    Attributes
    ----------
    confusion
        M[i, j] = P(yhat = i | y = j), shape (K, K), or (k, K, K) where clients have models of
        their own.
    prior
        pi_0, how often each class was there when the model was trained, shape (K,).
    probabilities, labels
        Predictions (m, K) for the held-out examples, and their classes (m,).
    soft
        Whether M is of mean probabilities instead of the most likely classes.
    fits
        Room for what is fitted when it is first asked for.
    """

    confusion: Floats
    prior: Floats
    probabilities: Floats
    labels: Ints
    soft: bool = False
    fits: dict[str, Calibration] = field(default_factory=dict, repr=False)

    @property
    def classes(self) -> int:
        """K."""
        return len(self.prior)

    @property
    def samples(self) -> int:
        """Number of held-out examples."""
        return len(self.labels)

    def predicted(self, probabilities: npt.NDArray[Any]) -> Floats:
        """How often each class is predicted, as M counts it, (k, K) of predictions (k, n, K)."""
        return histogram(probabilities, self.soft)

    @property
    def calibration(self) -> Calibration:
        """A bias-corrected temperature for the model, with classes as frequent as in pi_0.

        Raises `DataError` where the predictions are no better than none.
        """
        if "calibration" not in self.fits:
            said, labels = self.probabilities, self.labels
            self.fits["calibration"] = bias_corrected_temperature(said, labels, prior=self.prior)
        return self.fits["calibration"]

    def calibrated(self, probabilities: npt.NDArray[Any]) -> Floats:
        """Probabilities (..., K) that mean what they say, of the model's."""
        return self.calibration.of_probabilities(probabilities)

    def seen_by(self, confusion: Floats) -> "SourceFacts":
        """The same source with the confusion of another model, (K, K) or (k, K, K).

        The calibration stays that of the model that `probabilities` are of.
        """
        return replace(self, confusion=confusion)


def source_facts(
    probabilities: npt.NDArray[Any],
    labels: Ints,
    prior: Floats | None = None,
    soft: bool = False,
) -> SourceFacts:
    """Measure the facts from predictions (m, K) for held-out source examples with labels (m,).

    `prior` is pi_0, shape (K,); by default the frequencies of the labels. Raises `DataError` when a
    class has no example.

    >>> facts = source_facts(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), np.array([0, 0, 1]))
    >>> facts.confusion
    array([[1., 0.],
           [0., 1.]])
    >>> facts.prior
    array([0.66666667, 0.33333333])
    """
    given = np.asarray(probabilities, np.float64)
    counts = examples_of_classes(labels, given.shape[-1])
    shares = counts / counts.sum() if prior is None else np.asarray(prior, np.float64)
    return SourceFacts(
        confusion_matrix(given, labels, soft),
        shares,
        given,
        np.asarray(labels, np.int64),
        soft,
    )

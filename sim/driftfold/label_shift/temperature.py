"""Bias-corrected temperature scaling: probabilities that mean what they say.

Alexandari, A., Kundaje, A., Shrikumar, A.: "Maximum likelihood with bias-corrected calibration is
hard-to-beat at label shift adaptation", ICML 2020; without biases Guo et al., ICML 2017.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import DataError
from driftfold.label_shift.examples import examples_of_classes
from driftfold.lanes import in_whole_vectors
from driftfold.softmax import softmax

_SMALLEST = 1e-300
"""What a probability of 0 counts as: its logarithm is finite."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """softmax(z / T + b) in place of softmax(z).

    Attributes
    ----------
    temperature
        T > 0.
    bias
        b, shape (K,), with mean 0.
    """

    temperature: float
    bias: Floats

    def of_logits(self, logits: npt.NDArray[Any]) -> Floats:
        """Calibrated probabilities of logits, (..., K).

        >>> Calibration(2.0, np.zeros(2)).of_logits(np.array([0.0, 0.0]))
        array([0.5, 0.5])
        """
        made: Floats = softmax(np.asarray(logits, np.float64) / self.temperature + self.bias)
        return made

    def of_probabilities(self, probabilities: npt.NDArray[Any]) -> Floats:
        """Calibrated probabilities of softmax(z), (..., K): all that b and T need of z."""
        return self.of_logits(log_probabilities(probabilities))


def bias_corrected_temperature(
    probabilities: npt.NDArray[Any],
    labels: Ints,
    bias: bool = True,
    prior: Floats | None = None,
) -> Calibration:
    """T and b that make held-out labels (m,) likeliest under predictions (m, K).

    The negative log-likelihood is convex in 1/T and b; Newton's method with backtracking. Without
    `bias` b is 0. Where classes are held out in other shares than they have in the source, `prior`
    (K,) says which: examples are weighed accordingly. Raises `DataError` when a class has no
    example, or when the predictions are no better than none: then no temperature above 0 is best.

    >>> sure = np.array([[0.99, 0.01], [0.99, 0.01], [0.99, 0.01], [0.01, 0.99], [0.01, 0.99]])
    >>> fit = bias_corrected_temperature(sure, np.array([0, 0, 1, 1, 0]), bias=False)
    >>> fit.of_probabilities(sure[:1]).round(3)
    array([[0.6, 0.4]])
    """
    given = np.asarray(probabilities, np.float64)
    classes = given.shape[-1]
    counts = examples_of_classes(labels, classes)
    z = log_probabilities(given)
    z = z - z.mean(axis=-1, keepdims=True)
    free = np.ones(1 + classes, bool)
    free[1:] = bias
    onehot = np.eye(classes)[np.asarray(labels)]
    share = counts / counts.sum() if prior is None else prior
    parameters = _newton(z, onehot, (share / counts)[np.asarray(labels)], free)
    sharpness = float(parameters[0])
    if not 0 < sharpness < np.inf:
        raise DataError(
            f"no temperature makes these predictions likely: 1/T came out as {sharpness:.3g}; they "
            "are no better than chance on the held-out examples; train the model first"
        )
    return Calibration(1.0 / sharpness, parameters[1:] - parameters[1:].mean())


def log_probabilities(probabilities: npt.NDArray[Any]) -> Floats:
    """Logarithms, those of 0 as of 1e-300, (..., K).

    >>> log_probabilities(np.array([1.0]))
    array([0.])
    """
    return in_whole_vectors(np.log, np.maximum(np.asarray(probabilities, np.float64), _SMALLEST))


def _newton(z: Floats, onehot: Floats, weights: Floats, free: Bools) -> Floats:
    """Minimise the weighed negative log-likelihood of softmax(beta z + b) over (beta, b)."""
    parameters = np.zeros(len(free))
    parameters[0] = 1.0
    loss = _loss(parameters, z, onehot, weights)
    for _ in range(100):
        gradient, hessian = _derivatives(parameters, z, onehot, weights)
        gradient = np.where(free, gradient, 0.0)
        if np.abs(gradient).max() < 1e-12:
            break
        # b and b + c are the same: the pseudo-inverse of least squares takes no step along it.
        bent = np.where(free[:, None] & free, hessian, 0.0)
        step = np.linalg.lstsq(bent, -gradient, rcond=1e-13)[0]
        length, slope = 1.0, float(gradient @ step)
        while length > 1e-10:
            there = parameters + length * step
            now = _loss(there, z, onehot, weights)
            if now <= loss + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break  # no number nearer to the minimum
        parameters, loss = there, now
    return parameters


def _loss(parameters: Floats, z: Floats, onehot: Floats, weights: Floats) -> float:
    logits = parameters[0] * z + parameters[1:]
    top = logits.max(axis=-1, keepdims=True)
    normaliser = np.log(np.exp(logits - top).sum(axis=-1)) + top[:, 0]
    return float(weights @ (normaliser - (logits * onehot).sum(axis=-1)))


def _derivatives(
    parameters: Floats, z: Floats, onehot: Floats, weights: Floats
) -> tuple[Floats, Floats]:
    p = softmax(parameters[0] * z + parameters[1:])
    mean = (p * z).sum(axis=-1, keepdims=True)
    off, weighed = weights[:, None] * (p - onehot), weights[:, None] * p
    gradient = np.concatenate([[(off * z).sum()], off.sum(axis=0)])
    hessian = np.empty((len(gradient), len(gradient)))
    hessian[0, 0] = (weighed * (z - mean) ** 2).sum()
    hessian[0, 1:] = hessian[1:, 0] = (weighed * (z - mean)).sum(axis=0)
    hessian[1:, 1:] = np.diag(weighed.sum(axis=0)) - weighed.T @ p
    return gradient, hessian

"""What is remembered of a batch: a mean, and what there is to debias its length."""

from typing import Any

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats
from driftfold.signals.cosine import TINY, inner


def votes(probabilities: npt.NDArray[Any], hard: bool) -> Floats:
    """What each sample says, (k, n, K) in float64: its probabilities, or 1 for the likeliest class.

    >>> votes(np.array([[[0.6, 0.4]]]), hard=True)
    array([[[1., 0.]]])
    """
    given = np.ascontiguousarray(probabilities, np.float64)
    if not hard:
        return given
    best = given.argmax(axis=-1)[..., None]
    chosen = (best == np.arange(given.shape[-1])).astype(np.float64)
    return np.where(np.isnan(given).any(axis=-1, keepdims=True), np.nan, chosen)


def directions(features: npt.NDArray[Any]) -> Floats:
    """Directions h / max(||h||, 1e-12) of samples h, (k, n, d) in float64.

    >>> directions(np.array([[[3.0, 4.0], [0.0, 0.0]]]))
    array([[[0.6, 0.8],
            [0. , 0. ]]])
    """
    given = np.ascontiguousarray(features, np.float64)
    made: Floats = given / np.maximum(np.sqrt(inner(given, given)), TINY)[..., None]
    return made


def mean(samples: Floats) -> Floats:
    """Means (k, d) of samples (k, n, d), each client's summed for itself.

    >>> mean(np.array([[[1.0], [3.0]]]))
    array([[2.]])
    """
    middle: Floats = samples.sum(axis=1) / samples.shape[1]
    return middle


def unbiased_square(samples: Floats, middle: Floats) -> Floats:
    """Unbiased estimate of ||E v||^2, shape (k,), of samples v (k, n, d) and their mean (k, d).

    The U-statistic (n^2 ||m||^2 - sum ||v_i||^2) / (n (n - 1)): the mean of v_i . v_j over i != j.
    One sample tells nothing of it: 0.

    >>> v = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    >>> unbiased_square(v, mean(v))
    array([0.])
    """
    n = samples.shape[1]
    if n < 2:
        return np.zeros(len(samples))
    total = inner(samples, samples).sum(axis=-1)
    square: Floats = (n * n * inner(middle, middle) - total) / (n * (n - 1))
    return square

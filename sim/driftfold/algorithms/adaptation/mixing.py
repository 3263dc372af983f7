"""Mixtures of models with exponential weights, some of them drawn: what Fed-POE stands on.

Weights are kept as logarithms: they fall by factors exp(-loss), and soon below the smallest number.
"""

import numpy as np

from driftfold.arrays import Array, Bools, Floats
from driftfold.lanes import in_whole_vectors

_TINY = 1e-300  # of a probability that is 0, so that a loss is a number


def shares(logs: Floats, among: Bools | None = None) -> Floats:
    """Weights exp(logs), (..., m), divided by their sum over those `among` them.

    >>> shares(np.log([[1.0, 3.0, 4.0]]), np.array([[True, True, False]]))
    array([[0.25, 0.75, 0.  ]])
    """
    there = np.ones(logs.shape, dtype=bool) if among is None else among
    highest = np.where(there, logs, -np.inf).max(axis=-1, keepdims=True)
    made = in_whole_vectors(np.exp, np.where(there, logs - highest, 0.0)) * there
    normal: Floats = made / made.sum(axis=-1, keepdims=True)
    return normal


def drawn(q: Floats, uniform: Floats) -> Bools:
    """Which of m models, (k, m), are met when as many are drawn by shares q as numbers are given.

    >>> drawn(np.array([[0.5, 0.2, 0.3]]), np.array([[0.1, 0.9, 0.4]]))
    array([[ True, False,  True]])
    """
    edges = np.cumsum(q, axis=-1)
    edges /= edges[:, -1:]
    places = (uniform[:, :, None] >= edges[:, None, :-1]).sum(axis=-1)
    met: Bools = (places[:, :, None] == np.arange(q.shape[-1])).any(axis=1)
    return met


def chance(q: Floats, draws: int) -> Floats:
    """1 - (1 - q)^draws: the probability to be met in so many draws, without loss of digits.

    >>> chance(np.array([0.0, 0.5, 1.0]), 2)
    array([0.  , 0.75, 1.  ])
    """
    with np.errstate(divide="ignore"):
        logs = in_whole_vectors(np.log1p, -np.minimum(q, 1.0))
    made: Floats = -in_whole_vectors(np.expm1, draws * logs)
    return made


def mixture(weights: Floats, arrays: Array) -> Array:
    """Sum over models of weights (k, m) times arrays (k, m, ...), shape (k, ...).

    >>> mixture(np.array([[0.25, 0.75]]), np.array([[[[1.0, 0.0]], [[0.0, 1.0]]]]))
    array([[[0.25, 0.75]]])
    """
    each = weights.reshape(*weights.shape, *[1] * (arrays.ndim - 2))
    made = each[:, 0] * arrays[:, 0]
    for j in range(1, weights.shape[1]):  # in this order, whatever the strides
        made = made + each[:, j] * arrays[:, j]
    return made


def log_loss(probabilities: Array, labels: Array) -> Floats:
    """Mean over the batch of -log p_y, shape (...), of (..., n, K) and classes (..., n).

    >>> log_loss(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 0])).round(6)
    np.float64(1.039721)
    """
    said = np.take_along_axis(probabilities, labels[..., None], axis=-1)[..., 0]
    logs = in_whole_vectors(np.log, np.maximum(said.astype(np.float64), _TINY))
    loss: Floats = -logs.sum(axis=-1) / logs.shape[-1]
    return loss

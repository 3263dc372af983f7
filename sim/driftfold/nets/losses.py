"""Losses as closed forms on logits: each with its gradient, so that nets need no tape of them."""

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.lanes import in_whole_vectors
from driftfold.softmax import log_softmax, softmax

_TINY = 1e-10  # in the logarithm of a probability, as the released scripts of Fed-ADE have it


def cross_entropy(logits: Array, labels: Ints) -> tuple[Array, Array]:
    """Return -log p_y of each row, shape (...), and its gradient in the logits, p - onehot(y).

    >>> loss, gradient = cross_entropy(np.zeros((1, 2)), np.array([1]))
    >>> loss.round(6).tolist(), gradient.tolist()
    ([0.693147], [[0.5, -0.5]])
    """
    logs = log_softmax(logits)
    place = labels[..., None]
    loss = -np.take_along_axis(logs, place, axis=-1)[..., 0]
    gradient = in_whole_vectors(np.exp, logs)
    np.put_along_axis(gradient, place, np.take_along_axis(gradient, place, -1) - 1, axis=-1)
    return loss, gradient


def entropy(logits: Array) -> tuple[Array, Array]:
    """Return H = -sum_k p_k log(p_k + 1e-10) of each row, and its gradient in the logits.

    With g_k = -log(p_k + e) - p_k / (p_k + e) the gradient is p_j (g_j - sum_k p_k g_k).

    >>> value, gradient = entropy(np.zeros((1, 4)))
    >>> value.round(6).tolist(), bool(abs(gradient).max() < 1e-12)
    ([1.386294], True)
    """
    p = softmax(logits)
    above = p + np.asarray(_TINY, p.dtype)
    logs = in_whole_vectors(np.log, above)
    slope = -logs - p / above
    mean = (p * slope).sum(axis=-1, keepdims=True)
    return -(p * logs).sum(axis=-1), p * (slope - mean)

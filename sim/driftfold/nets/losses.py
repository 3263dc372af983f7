"""Losses as closed forms on logits: each with its gradient, so that nets need no tape of them."""

import math

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.softmax import as_rows, log_probabilities, probabilities

_TINY = 1e-10  # in the logarithm of a probability, as the released scripts of Fed-ADE have it


def cross_entropy(logits: Array, labels: Ints) -> tuple[Array, Array]:
    """Return -log p_y of each row, shape (...), and its gradient in the logits, p - onehot(y).

    >>> loss, gradient = cross_entropy(np.zeros((1, 2)), np.array([1]))
    >>> loss.round(6).tolist(), gradient.tolist()
    ([0.693147], [[0.5, -0.5]])
    """
    logs = log_probabilities(logits)
    flat = np.broadcast_to(labels, logits.shape[:-1]).reshape(-1)
    place = (flat, np.arange(flat.size))
    loss: Array = -logs[place].reshape(logits.shape[:-1])
    np.exp(logs, out=logs)
    logs[place] -= 1
    return loss, as_rows(logs, logits.shape)


def entropy(logits: Array) -> tuple[Array, Array]:
    """Return H = -sum_k p_k log(p_k + 1e-10) of each row, and its gradient in the logits.

    With g_k = -log(p_k + e) - p_k / (p_k + e) the gradient is p_j (g_j - sum_k p_k g_k).

    >>> value, gradient = entropy(np.zeros((1, 4)))
    >>> value.round(6).tolist(), bool(abs(gradient).max() < 1e-12)
    ([1.386294], True)
    """
    p = probabilities(logits)
    above = p + p.dtype.type(_TINY)
    logs = np.log(above)
    np.divide(p, above, out=above)
    above += logs  # -g
    gradient = np.add.reduce(p * above, axis=0) - above
    gradient *= p
    logs *= p
    rows = math.prod(logits.shape[:-1])
    value: Array = -np.add.reduce(logs, axis=0)[:rows].reshape(logits.shape[:-1])
    return value, as_rows(gradient, logits.shape)

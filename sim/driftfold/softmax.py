"""Probabilities from logits, each row's bits its own.

Inside, classes come first: sums over the classes are then sums of long rows, at half the time for
ten classes, and the rows are filled up to whole registers, since libraries may compute the last few
numbers of an array on another path (see `driftfold.lanes`).
"""

import math

import numpy as np

from driftfold.arrays import Array

_LANES = 64


def softmax(logits: Array) -> Array:
    """Probabilities of the classes, shape (..., K) and type as the logits.

    >>> softmax(np.log(np.array([[1.0, 3.0]]))).round(12).tolist()
    [[0.25, 0.75]]
    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    return as_rows(probabilities(logits), logits.shape)


def log_softmax(logits: Array) -> Array:
    """Logarithms of the probabilities, shape (..., K).

    >>> log_softmax(np.array([[0.0, 0.0]])).round(6).tolist()
    [[-0.693147, -0.693147]]
    """
    return as_rows(log_probabilities(logits), logits.shape)


def probabilities(logits: Array) -> Array:
    """Probabilities with classes first, shape (K, rows filled up): an array of one's own.

    >>> probabilities(np.zeros((3, 5, 2))).shape
    (2, 64)
    """
    made = _shifted(logits)
    np.exp(made, out=made)
    made /= np.add.reduce(made, axis=0)
    return made


def log_probabilities(logits: Array) -> Array:
    """Their logarithms, likewise."""
    made = _shifted(logits)
    made -= np.log(np.add.reduce(np.exp(made), axis=0))
    return made


def as_rows(by_class: Array, shape: tuple[int, ...]) -> Array:
    """Array (..., K) of `shape`, without what the rows were filled up with.

    >>> as_rows(probabilities(np.zeros((3, 2))), (3, 2)).tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    return np.ascontiguousarray(by_class[:, : math.prod(shape[:-1])].T).reshape(shape)


def _shifted(logits: Array) -> Array:
    """Logits less the largest of their row, 0 where rows are filled up."""
    count, classes = math.prod(logits.shape[:-1]), logits.shape[-1]
    made = np.zeros((classes, -(-count // _LANES) * _LANES), logits.dtype)
    made[:, :count] = logits.reshape(count, classes).T
    made -= np.maximum.reduce(made, axis=0)
    return made

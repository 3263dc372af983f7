"""Probabilities from logits, each row's bits its own."""

import numpy as np

from driftfold.arrays import Array
from driftfold.lanes import in_whole_vectors


def softmax(logits: Array) -> Array:
    """Probabilities of the classes, shape (..., K) and type as the logits.

    >>> softmax(np.log(np.array([[1.0, 3.0]]))).round(12).tolist()
    [[0.25, 0.75]]
    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    made = in_whole_vectors(np.exp, logits - logits.max(axis=-1, keepdims=True))
    made /= made.sum(axis=-1, keepdims=True)
    return made


def log_softmax(logits: Array) -> Array:
    """Logarithms of the probabilities, shape (..., K).

    >>> log_softmax(np.array([[0.0, 0.0]])).round(6).tolist()
    [[-0.693147, -0.693147]]
    """
    shifted = logits - logits.max(axis=-1, keepdims=True)
    total = in_whole_vectors(np.exp, shifted).sum(axis=-1, keepdims=True)
    made: Array = shifted - in_whole_vectors(np.log, total)
    return made

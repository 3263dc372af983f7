"""Adam on a client's own numbers (Kingma and Ba, ICLR 2015), as torch has it by default."""

import numpy as np

from driftfold.arrays import Array
from driftfold.lanes import in_whole_vectors
from driftfold.trees import node

KEEP = (0.9, 0.999)
"""Shares of the first and the second moment that stay."""

TINY = 1e-8


@node
class Moments:
    """First and second moments, of the shape of the parameters, and steps so far, shape ()."""

    first: Array
    second: Array
    count: Array

    @classmethod
    def none(cls, like: Array) -> "Moments":
        """Return those before the first step."""
        return cls(np.zeros_like(like), np.zeros_like(like), np.zeros((), dtype=np.int64))


def adam_step(
    values: Array, gradient: Array, moments: Moments, rate: float
) -> tuple[Array, Moments]:
    """One step of k clients, each with its own moments; all arrays (k, q), counts (k,).

    >>> moments = Moments(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros(1, dtype=np.int64))
    >>> values, _ = adam_step(np.ones((1, 2)), np.array([[5.0, -0.1]]), moments, rate=0.5)
    >>> values.round(6)  # the first step is as long as the rate, whatever the gradient
    array([[0.5, 1.5]])
    """
    one, two = KEEP
    count = moments.count + 1
    first = one * moments.first + (1 - one) * gradient
    second = two * moments.second + (1 - two) * gradient**2
    left = [
        1 - in_whole_vectors(np.power, np.full(len(count), keep), count.astype(np.float64))
        for keep in KEEP
    ]
    kind = values.dtype
    length = np.sqrt(second / left[1][:, None].astype(kind)) + kind.type(TINY)
    step = first / left[0][:, None].astype(kind) / length
    return values - kind.type(rate) * step, Moments(first, second, count)

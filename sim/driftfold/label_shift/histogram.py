"""How often each class is predicted in a batch."""

from typing import Any

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats


def histogram(probabilities: npt.NDArray[Any], soft: bool = False) -> Floats:
    """Shares of the most likely classes, or mean probabilities: (..., K) of (..., n, K), n >= 1.

    Of equally likely classes the first one counts. Each batch is summed for itself, example by
    example, so that its bits do not depend on the others.

    >>> batch = np.array([[0.6, 0.4], [0.9, 0.1], [0.3, 0.7]])
    >>> histogram(batch)
    array([0.66666667, 0.33333333])
    >>> histogram(batch, soft=True)
    array([0.6, 0.4])
    """
    given = np.ascontiguousarray(probabilities, np.float64)
    if not soft:
        best = given.argmax(axis=-1)
        given = (best[..., None] == np.arange(given.shape[-1])).astype(np.float64)
    shares: Floats = given.sum(axis=-2) / given.shape[-2]
    return shares

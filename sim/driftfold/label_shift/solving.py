"""M p = g for p, client by client."""

import numpy as np

from driftfold.arrays import Floats
from driftfold.errors import DataError


def solved(confusion: Floats, predicted: Floats) -> Floats:
    """M^-1 g, shape (k, K), of M (K, K) or (k, K, K) and g (k, K); or `DataError`.

    Each client's system is solved for itself: its bits do not depend on the others.

    >>> m = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> solved(m, np.array([[0.55, 0.45]])).round(12)
    array([[0.5, 0.5]])
    """
    try:
        solution = np.linalg.solve(confusion, predicted[..., None])[..., 0]
    except np.linalg.LinAlgError as error:
        raise DataError(
            "the confusion matrix has no inverse: some class is never predicted, or two are "
            "predicted alike; use the label estimate 'ridge', 'rlls' or 'em', soft predictions, or "
            "a better model"
        ) from error
    return solution.astype(np.float64, copy=False)

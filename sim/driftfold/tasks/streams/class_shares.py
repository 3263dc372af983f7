"""Class distributions that a model may have been trained on."""

from typing import Literal, TypeAlias

import numpy as np

from driftfold.arrays import Floats, Ints

ClassShares: TypeAlias = Literal["natural", "uniform", "gaussian", "decay"]
"""How often classes occur among the examples before deployment.

"natural": as in the data. "uniform": alike. "gaussian": exp(-(k - (K-1)/2)^2 / (2 (K/5)^2)) of
class k. "decay": 0.1^(k / (K-1)). The paper names the last two and does not define them; these are
ours.
"""

_RATIO, _WIDTH = 0.1, 5.0


def class_shares(kind: ClassShares, y: Ints) -> Floats:
    """Shares of the K classes of labels y, shape (K,), sum 1.

    >>> class_shares("decay", np.arange(3)).round(3).tolist()
    [0.706, 0.223, 0.071]
    """
    there = np.bincount(y).astype(np.float64)
    k, last = np.arange(len(there)), len(there) - 1
    made = {
        "natural": there,
        "uniform": np.ones(len(there)),
        "gaussian": np.exp(-((k - last / 2) ** 2) / (2 * (len(there) / _WIDTH) ** 2)),
        "decay": _RATIO ** (k / max(1, last)),
    }[kind]
    shares: Floats = made / made.sum()
    return shares

"""Onto the probability simplex: estimates of shares may come out negative."""

from typing import Any, Literal

import numpy as np

from driftfold.arrays import Floats

Fix = Literal["clip", "simplex", "none"]
"""What to do with negative shares: cut them off and renormalise, project, or leave them."""


def simplex_projection(x: Any) -> Floats:
    """Nearest point of the simplex {p >= 0, sum p = 1} to each row of x, (..., K).

    Held, Wolfe and Crowder (1974); as Duchi et al., ICML 2008, figure 1.

    >>> simplex_projection(np.array([0.6, 0.5, -0.1])).round(12)
    array([0.55, 0.45, 0.  ])
    """
    given = np.asarray(x, np.float64)
    falling = -np.sort(-given, axis=-1)
    over = np.cumsum(falling, axis=-1) - 1.0
    ranks = np.arange(1, given.shape[-1] + 1)
    kept = (ranks * falling > over).sum(axis=-1, keepdims=True)
    threshold = np.take_along_axis(over, np.maximum(kept, 1) - 1, axis=-1) / np.maximum(kept, 1)
    nearest: Floats = np.maximum(given - threshold, 0.0)
    return nearest


def clip_renormalise(x: Any) -> Floats:
    """Cut negative entries off and divide by the sum, (..., K); uniform where nothing is left.

    >>> clip_renormalise(np.array([0.6, 0.5, -0.1])).round(6)
    array([0.545455, 0.454545, 0.      ])
    """
    kept = np.maximum(np.asarray(x, np.float64), 0.0)
    total = kept.sum(axis=-1, keepdims=True)
    none = total <= 0
    return np.where(none, 1.0 / kept.shape[-1], kept / np.where(none, 1.0, total))


def fixed(x: Floats, fix: Fix) -> Floats:
    """Estimates (..., K) after `fix`.

    >>> fixed(np.array([1.25, -0.25]), "clip")
    array([1., 0.])
    """
    if fix == "clip":
        return clip_renormalise(x)
    return simplex_projection(x) if fix == "simplex" else x

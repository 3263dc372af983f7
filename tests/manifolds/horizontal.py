"""Tangent vectors of chosen singular values, for the hard inputs of the Grassmann manifold."""

from collections.abc import Sequence

import numpy as np

from driftfold.arrays import Floats

RNG = np.random.default_rng(3)

SPREADS: list[Sequence[float]] = [
    (0.0, 0.0, 0.0),
    (1e-12, 1e-12, 1e-12),
    (1e-12, 1e-8, 1.0),
    (0.7, 0.7, 0.7),
    (0.0, 0.4, 0.4),
    (1.2, 1.2, 1e-8),
    (np.pi / 2 - 1e-8, 0.3, 0.0),
    (np.pi / 2 - 1e-4, np.pi / 2 - 1e-8, 1e-3),
]
"""Zero, tiny, repeated, far apart, and near a right angle."""


def step(singular: Sequence[float], d: int = 8) -> tuple[Floats, Floats]:
    """A point x and a horizontal u, rows, with these singular values."""
    r = len(singular)
    q = np.linalg.qr(RNG.standard_normal((d, 2 * r)))[0].T
    return q[:r], rotation(r) * np.array(singular) @ q[r:]


def rotation(r: int) -> Floats:
    """Random orthogonal matrix."""
    return np.linalg.qr(RNG.standard_normal((r, r)))[0]

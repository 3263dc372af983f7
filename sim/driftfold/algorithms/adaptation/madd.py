"""MADD: how differently two vectors lie to all others.

Sarkar, S., Ghosh, A. K.: "On perfect clustering of high dimension, low sample size data", IEEE
Transactions on Pattern Analysis and Machine Intelligence 42 (2020); with cosines as FedCCFA has it
(NeurIPS 2024). In high dimensions distances between single vectors say little, and those to a third
one, taken together, more.
"""

import numpy as np

from driftfold.arrays import Array, Floats

LEAST = 3
"""Vectors without which there is no third one."""

_TINY = 1e-12
_ROOM = 2**20
"""Numbers that are held at a time beyond what comes out: 8 MB."""


def cosines(vectors: Array) -> Floats:
    """Cosines of all pairs of vectors (m, d), shape (m, m); 0 with a vector that vanishes.

    >>> cosines(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])).round(4).tolist()
    [[1.0, 0.7071, 0.0], [0.7071, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    given = vectors.astype(np.float64)
    lengths = np.sqrt((given * given).sum(axis=1, keepdims=True))
    units = given / np.maximum(lengths, _TINY)
    made: Floats = units @ units.T
    return made


def madd(similarity: Floats) -> Floats:
    """Mean over z, other than i and j, of |s_iz - s_jz|, shape (m, m), of similarities (m, m).

    Pairs are gone through in blocks, whose size changes no bit. Raises `ValueError` for fewer than
    three vectors.

    >>> s = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.6], [0.2, 0.6, 1.0]])
    >>> madd(s).round(3).tolist()
    [[0.0, 0.4, 0.3], [0.4, 0.0, 0.7], [0.3, 0.7, 0.0]]
    """
    m = len(similarity)
    if m < LEAST:
        raise ValueError(f"MADD compares by a third vector, got {m}; give 3 or more")
    s = np.ascontiguousarray(similarity)
    total = np.empty((m, m))
    many = max(1, _ROOM // m)  # pairs at a time
    tall = max(1, many // m)
    for i in range(0, m, tall):
        for j in range(0, m, many):
            apart = s[i : i + tall, None, :] - s[None, j : j + many, :]
            total[i : i + tall, j : j + many] = np.abs(apart, out=apart).sum(axis=2)
    diagonal = np.diagonal(s)
    # z = i and z = j are left out: |s_ii - s_ji| and |s_ij - s_jj|.
    own, other = np.abs(diagonal[:, None] - s.T), np.abs(s - diagonal[None, :])
    made: Floats = np.maximum(total - own - other, 0.0) / (m - 2)
    np.fill_diagonal(made, 0.0)
    return made

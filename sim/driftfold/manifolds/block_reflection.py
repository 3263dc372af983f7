"""Block reflections: r orthonormal rows turned onto the first r axes.

Schreiber, R., Parlett, B.: "Block reflectors: theory and computation", 1988. With x of shape (r, d)
and S the orthogonal polar factor of its first r columns x_1 = S P, the reflection

    H = I - w^T (I + S^T x_1)^-1 w,   w = S^T x + [I 0],

is symmetric and orthogonal, and x H = -S [I 0]: so whatever is orthogonal to the rows of x has
zeros in its first r places once it is reflected. I + P has eigenvalues from 1 to 2, whatever x.
For r = 1 it is the reflection of Householder, away from the first axis.
"""

from dataclasses import dataclass

from driftfold.arrays import Array, array_namespace
from driftfold.manifolds.orthonormal import polar_factor
from driftfold.manifolds.small_matrices import solve


@dataclass(frozen=True, eq=False)
class BlockReflection:
    """H of orthonormal rows; `way` is w, shape (..., r, d), `scaled` is (I + P)^-1 w."""

    way: Array
    scaled: Array

    def complement(self, u: Array) -> Array:
        """Coordinates of rows u orthogonal to those of x: (..., r, d) -> (..., r, d - r)."""
        return self._reflected(u)[..., self.way.shape[-2] :]

    def embedded(self, b: Array) -> Array:
        """Rows orthogonal to those of x with coordinates b: (..., r, d - r) -> (..., r, d)."""
        xp, r = array_namespace(b), self.way.shape[-2]
        nothing = xp.zeros((*b.shape[:-1], r), dtype=b.dtype, device=b.device)
        return self._reflected(xp.concat([nothing, b], axis=-1))

    def _reflected(self, u: Array) -> Array:
        return u - (u @ self.way.mT) @ self.scaled


def block_reflection(x: Array) -> BlockReflection:
    """Reflection of orthonormal rows x, shape (..., r, d).

    >>> import numpy as np
    >>> x = np.array([[0.6, 0.0, 0.8]])
    >>> h = block_reflection(x)
    >>> b = h.complement(np.array([[-0.8, 5.0, 0.6]]))
    >>> b.round(12)
    array([[5., 1.]])
    >>> h.embedded(b).round(12)
    array([[-0.8,  5. ,  0.6]])
    """
    xp, r = array_namespace(x), x.shape[-2]
    s = polar_factor(x[..., :r])
    way = s.mT @ x
    p = way[..., :r]
    p = (p + p.mT) / 2
    one = xp.eye(r, dtype=x.dtype, device=x.device)
    way = xp.concat([way[..., :r] + one, way[..., r:]], axis=-1)
    return BlockReflection(way, solve(p + one, way))

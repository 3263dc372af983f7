"""Top-k: the largest coordinates, and where they are.

Stich, S., Cordonnier, J.-B., Jaggi, M.: "Sparsified SGD with memory", NeurIPS 2018. Biased, so
to be used with error feedback.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Le

from driftfold.arrays import Array
from driftfold.compressors.base import Compressor, framed
from driftfold.manifolds.base import Manifold
from driftfold.registry import register
from driftfold.rng import Draw
from driftfold.trees import node


@node
class Entries:
    """Message: numbers of coordinates in ascending order, and their values."""

    indices: Array
    values: Array


@register("top_k")
@dataclass(frozen=True)
class TopK(Compressor):
    """The k coordinates of largest size in an orthonormal frame; all others become 0.

    The message has k (itemsize + b) bytes, where a coordinate's number takes b = 1, 2 or 4 bytes:
    the fewest that tell n coordinates apart, n the dimension of the manifold.

    Attributes
    ----------
    k
        How many coordinates are kept: a number (all where there are no more), or a fraction of
        them, rounded up.

    >>> from driftfold.manifolds import Euclidean
    >>> u = np.array([0.1, -3.0, 0.2, 2.0])
    >>> rule = TopK(k=0.5)
    >>> message = rule.encode(Euclidean(4), 0 * u, u, np.zeros)
    >>> message.indices, rule.message_bytes(Euclidean(4), itemsize=8)
    (array([1, 3], dtype=uint8), 18)
    >>> rule.decode(Euclidean(4), 0 * u, message)
    array([ 0., -3.,  0.,  2.])
    """

    k: Annotated[int, Ge(1)] | Annotated[float, Gt(0), Le(1)] = 0.1

    @property
    def code(self) -> type[Any]:
        """Numbers and values."""
        return Entries

    def check(self, space: Manifold) -> None:
        """Require orthonormal frames."""
        framed(self, space)

    def encode(self, space: Manifold, x: Array, u: Array, draw: Draw) -> Entries:
        """Pick the largest."""
        c = framed(self, space).coordinates(x, u)
        n = c.shape[-1]
        size = np.where(np.isnan(c), np.inf, np.abs(c))  # a broken vector is not to look sound
        largest = np.argpartition(-size, min(self._kept(n), n - 1), axis=-1)[..., : self._kept(n)]
        indices = np.sort(largest, axis=-1)
        return Entries(indices.astype(_index_type(n)), np.take_along_axis(c, indices, axis=-1))

    def decode(self, space: Manifold, x: Array, code: Entries) -> Array:
        """Vector with these coordinates."""
        manifold, values = framed(self, space), code.values
        c = np.zeros((*values.shape[:-1], manifold.dimension), dtype=values.dtype)
        np.put_along_axis(c, code.indices.astype(np.int64), values, axis=-1)
        return manifold.from_coordinates(x, c)

    def message_bytes(self, space: Manifold, itemsize: int) -> int:
        """Multiply k by (itemsize + b)."""
        n = framed(self, space).dimension
        return self._kept(n) * (itemsize + _index_type(n).itemsize)

    def _kept(self, n: int) -> int:
        if isinstance(self.k, int):
            return min(n, self.k)
        return max(1, math.ceil(round(self.k * n, 9)))  # 0.07 * 100 is 7.000000000000001: 7


def _index_type(n: int) -> np.dtype[Any]:
    return np.dtype(np.uint8 if n <= 2**8 else np.uint16 if n <= 2**16 else np.uint32)

"""Rank-k: a tangent vector that is a matrix, by its leading singular vectors.

Vogels, T., Karimireddy, S. P., Jaggi, M.: "PowerSGD: practical low-rank gradient compression",
NeurIPS 2019, with exact singular vectors in place of power iterations. Biased, so to be used with
error feedback.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array
from driftfold.compressors.base import Compressor
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import Manifold
from driftfold.registry import register
from driftfold.rng import Draw
from driftfold.trees import node


@node
class Factors:
    """Message: two thin matrices whose product is meant, shapes (..., m, k) and (..., k, n)."""

    left: Array
    right: Array


@register("rank_k")
@dataclass(frozen=True)
class RankK(Compressor):
    """The nearest matrix of rank k (Frobenius norm) to a vector stored as an m x n matrix.

    It is projected onto T_x M when it is decoded, since a matrix of low rank near a tangent vector
    need not be tangent. The message has k (m + n) itemsize bytes; m and n are a point's two axes,
    and k must be so small that this is less than the vector itself.

    Attributes
    ----------
    k
        The rank.

    >>> from driftfold.manifolds import Euclidean
    >>> u = np.diag([3.0, 1.0, 0.0])
    >>> rule = RankK(k=1)
    >>> message = rule.encode(Euclidean(3, 3), 0 * u, u, np.zeros)
    >>> rule.decode(Euclidean(3, 3), 0 * u, message).diagonal() + 0.0
    array([3., 0., 0.])
    >>> rule.message_bytes(Euclidean(3, 3), itemsize=8)
    48
    """

    k: Annotated[int, Ge(1)] = 1

    @property
    def code(self) -> type[Any]:
        """Two factors."""
        return Factors

    def check(self, space: Manifold) -> None:
        """Require matrices that have more entries than their factors."""
        shape = space.shape
        if len(shape) != 2:
            raise CapabilityError(
                f"compressor 'rank_k' codes matrices, and a point of {type(space).__name__} has "
                f"shape {shape}; choose compressor 'quantiser' or 'top_k'"
            )
        if self.k * sum(shape) >= shape[0] * shape[1]:
            raise CapabilityError(
                f"factors of rank {self.k} have {self.k * sum(shape)} numbers, a point of shape "
                f"{shape} has {shape[0] * shape[1]}; lower k, or choose compressor 'quantiser'"
            )

    def encode(self, space: Manifold, x: Array, u: Array, draw: Draw) -> Factors:
        """Singular vectors, the left ones times their values; signs are those of the right ones."""
        sound = np.isfinite(u).all(axis=(-2, -1), keepdims=True)
        left, values, right = np.linalg.svd(np.where(sound, u, 0), full_matrices=False)
        left, right = left[..., : self.k] * values[..., None, : self.k], right[..., : self.k, :]
        at = np.argmax(np.abs(right), axis=-1, keepdims=True)
        signs = np.where(np.take_along_axis(right, at, axis=-1) < 0, -1, 1).astype(u.dtype)
        left = np.where(sound, left * np.swapaxes(signs, -2, -1), np.nan).astype(u.dtype)
        return Factors(left, right * signs)

    def decode(self, space: Manifold, x: Array, code: Factors) -> Array:
        """Projection of the product."""
        return space.project(x, code.left @ code.right)

    def message_bytes(self, space: Manifold, itemsize: int) -> int:
        """Multiply k by (m + n) and by itemsize."""
        return self.k * sum(space.shape) * itemsize

"""QSGD: coordinates rounded at random to a few levels, without bias.

Alistarh, D., Grubic, D., Li, J., Tomioka, R., Vojnovic, M.: "QSGD: communication-efficient SGD via
gradient quantization and encoding", NeurIPS 2017, section 3.1, with coordinates of fixed length in
place of Elias codes. On a manifold it acts on the coordinates in an orthonormal frame of T_x M
(`Framed`), so no number is sent that tangency already tells, and the decoded vector is tangent.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Le

from driftfold.arrays import Array
from driftfold.compressors.base import Compressor, framed
from driftfold.compressors.bit_packing import Bytes, pack, packed_size, unpack
from driftfold.manifolds.base import Manifold
from driftfold.registry import register
from driftfold.rng import Draw
from driftfold.trees import node


@node
class Levels:
    """Message: levels from -s to s, packed, and the length that s stands for."""

    packed: Bytes
    scale: Array


@register("quantiser")
@dataclass(frozen=True)
class Quantiser(Compressor):
    """c_j becomes scale * l_j / s with a random whole l_j from -s to s whose mean is s c_j / scale.

    E C(u) = u. The message is one number and n levels of b = ceil(log2(2 s + 1)) bits:
    itemsize + ceil(n b / 8) bytes, n the dimension of the manifold.

    Attributes
    ----------
    levels
        s: 7 takes 4 bits a coordinate, 127 takes 8, 1 takes 2.
    scale
        What level s stands for. "euclidean": |u|, for which the paper bounds the variance by
        min(n / s^2, sqrt(n) / s) |u|^2. "max": max_j |c_j|, as in the paper's experiments, with a
        variance of at most n max_j c_j^2 / (4 s^2): far less where the coordinates are of one size,
        unless s is large beside sqrt(n).

    >>> from driftfold.manifolds import Sphere
    >>> x, u = np.array([0.0, 0.0, 1.0]), np.array([0.3, -1.0, 0.0])
    >>> rule = Quantiser(levels=4, scale="max")
    >>> message = rule.encode(Sphere(3), x, u, lambda count: np.full(count, 0.5))
    >>> message.packed.nbytes + message.scale.nbytes == rule.message_bytes(Sphere(3), itemsize=8)
    True
    >>> rule.decode(Sphere(3), x, message).round(12) + 0.0
    array([ 0.25, -1.  ,  0.  ])
    """

    levels: Annotated[int, Ge(1), Le(2**15)] = 7
    scale: Literal["euclidean", "max"] = "euclidean"

    @property
    def code(self) -> type[Any]:
        """Levels and their scale."""
        return Levels

    @property
    def bits(self) -> int:
        """Bits of one level."""
        return (2 * self.levels).bit_length()

    def check(self, space: Manifold) -> None:
        """Require orthonormal frames."""
        framed(self, space)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def encode(self, space: Manifold, x: Array, u: Array, draw: Draw) -> Levels:
        """Round up with the probability of the rest."""
        c = framed(self, space).coordinates(x, u)
        if self.scale == "max":
            scale = np.max(np.abs(c), axis=-1, initial=0.0)
        else:
            scale = np.sqrt(np.sum(c * c, axis=-1))
        wanted = np.abs(c) * (self.levels / scale[..., None])
        wanted = np.where(np.isfinite(wanted), wanted, 0)  # what is not is told by the scale
        low = np.floor(wanted)
        level = np.minimum(low + (draw(c.shape[-1]) < wanted - low), self.levels)
        signed = np.where(np.signbit(c), -level, level).astype(np.int64)
        return Levels(pack(signed + self.levels, self.bits), np.asarray(scale))

    def decode(self, space: Manifold, x: Array, code: Levels) -> Array:
        """Vector with coordinates scale * l_j / s."""
        manifold = framed(self, space)
        levels = unpack(code.packed, self.bits, manifold.dimension) - self.levels
        c = levels.astype(code.scale.dtype) * (code.scale / self.levels)[..., None]
        return manifold.from_coordinates(x, c.astype(code.scale.dtype, copy=False))

    def message_bytes(self, space: Manifold, itemsize: int) -> int:
        """Itemsize + ceil(n b / 8)."""
        return itemsize + packed_size(framed(self, space).dimension, self.bits)

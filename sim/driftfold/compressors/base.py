"""Compressors: tangent vectors as messages of fewer bytes."""

from abc import ABC, abstractmethod
from typing import Any

from driftfold.arrays import Array
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import Framed, Manifold
from driftfold.registry import family, kind_of
from driftfold.rng import Draw


@family("compressor")
class Compressor(ABC):
    """Rule by which a client codes a vector u in T_x M, and the server decodes it as C(u).

    A code is a tree of arrays that hold nothing but what is sent: the message. Both sides know x.
    """

    @property
    @abstractmethod
    def code(self) -> type[Any]:
        """Class of the messages."""

    @abstractmethod
    def check(self, space: Manifold) -> None:
        """Raise `CapabilityError` where vectors of this space cannot be coded."""

    @abstractmethod
    def encode(self, space: Manifold, x: Array, u: Array, draw: Draw) -> Any:
        """Return the message of u in T_x M; points and vectors have shape (..., *shape)."""

    @abstractmethod
    def decode(self, space: Manifold, x: Array, code: Any) -> Array:
        """Return C(u) in T_x M."""

    @abstractmethod
    def message_bytes(self, space: Manifold, itemsize: int) -> int:
        """Bytes of one message, of vectors whose numbers have `itemsize` bytes."""


def framed(compressor: Compressor, space: Manifold) -> Framed:
    """Return `space` if it has orthonormal frames, else raise `CapabilityError`."""
    if not isinstance(space, Framed):
        raise CapabilityError(
            f"compressor {kind_of(compressor)!r} codes coordinates in an orthonormal frame, which "
            f"{type(space).__name__} has not; choose another manifold, or compressor 'rank_k'"
        )
    return space

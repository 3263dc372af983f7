"""Stages of convolutional bodies."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from driftfold.arrays import Array, Floats
from driftfold.nets.layout import Entry
from driftfold.nets.pictures import Pictures
from driftfold.rng import Stream


class Stage(ABC):
    """From pictures (n, inputs, H, W) to pictures (n, outputs, H', W'), one client at a time."""

    outputs: int
    """Channels of what comes out."""

    @property
    @abstractmethod
    def entries(self) -> tuple[Entry, ...]:
        """Parameters and buffers."""

    @property
    @abstractmethod
    def norms(self) -> tuple[str, ...]:
        """Prefixes of the names of batch normalisations."""

    @abstractmethod
    def initial(self, stream: Stream) -> Mapping[str, Floats]:
        """Random parameters and first buffers by name."""

    @abstractmethod
    def size(self, pixels: tuple[int, int]) -> tuple[int, int]:
        """Height and width of what comes out for those of what goes in."""

    @abstractmethod
    def kept(self, pixels: tuple[int, int]) -> int:
        """Numbers, about, that are kept of a picture of this height and width for the way back."""

    @abstractmethod
    def apply(self, run: Pictures, x: Array) -> Array:
        """Compute it in torch; x is left alone."""

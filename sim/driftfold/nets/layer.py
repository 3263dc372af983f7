"""Stages of a dense net, with their ways back written by hand."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from driftfold.arrays import Array, Floats
from driftfold.nets.base import Mode
from driftfold.nets.layout import Entry
from driftfold.nets.masks import Masks
from driftfold.rng import Stream


class Trace(ABC):
    """What a layer made of a stack of inputs, and what it needs on the way back.

    Attributes
    ----------
    y
        Outputs, (..., n, outputs).
    moved
        Buffers by name as modes "follow" and "train" moved them, (..., *shape).
    """

    y: Array
    moved: Mapping[str, Array] = {}

    @abstractmethod
    def back(self, dy: Array, grads: Mapping[str, Array], to_input: bool) -> Array | None:
        """Gradient in the inputs, (..., n, inputs), if `to_input`; those in parameters by name.

        The gradient `dy` (..., n, outputs) may be overwritten. `grads` holds the arrays that are to
        be filled, of the parameters that are wanted.
        """


class Layer(ABC):
    """One stage, from arrays (..., n, inputs) to (..., n, outputs).

    Attributes
    ----------
    entries
        Its parameters and buffers.
    kept
        Numbers, about, that it keeps of an input for the way back.
    """

    entries: tuple[Entry, ...] = ()
    kept: int = 0

    def initial(self, stream: Stream) -> Mapping[str, Floats]:
        """Random parameters and first buffers by name."""
        return {}

    @abstractmethod
    def forward(
        self, parts: Mapping[str, Array], x: Array, mode: Mode, masks: Masks | None
    ) -> Trace:
        """Outputs under parameters by name, each (..., *shape).

        Layers that do not stand first in a body or head may write over `x`.
        """

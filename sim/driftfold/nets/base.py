"""Classifiers as pure functions of flat parameter vectors."""

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np

from driftfold.arrays import Array, Bools, Floats
from driftfold.errors import SpecError
from driftfold.nets.layout import Layout
from driftfold.nets.masks import Masks
from driftfold.registry import family
from driftfold.rng import Stream

Mode = Literal["eval", "batch", "follow", "train"]
"""How a pass treats normalisation and dropout.

eval
    Running statistics, no dropout.
batch
    Statistics of the batch, the running ones stay; no dropout.
follow
    Statistics of the batch, the running ones move; no dropout.
train
    Statistics of the batch, the running ones move; dropout.
"""


@family("net")
class Net(ABC):
    """Configuration of a classifier: shapes are known when it is bound to data."""

    @abstractmethod
    def model(self, inputs: tuple[int, ...], classes: int, dtype: Any = np.float64) -> "Model":
        """Bind the net to inputs of shape `inputs`, K classes and a floating type.

        Raises `SpecError` where it cannot take such inputs.
        """


class Model(ABC):
    """A net bound to shapes: features h(x) of a body, logits of a head on them. It has no state.

    Leading axes are batch: theta is (..., P) and x is (..., n, *inputs), and the two broadcast: one
    theta (P,) for all clients and one set of inputs (m, *inputs) for all are never copied. What a
    client gets does not depend, bit for bit, on who else is in the stack.

    Attributes
    ----------
    inputs
        Shape of one input.
    classes
        Number of classes K.
    features
        Length d of h(x).
    dtype
        Floating type of parameters and results; inputs are brought to it.
    layout
        Names and places of the parameters in theta.
    head
        Prefixes of the names of the head, the personal part by default. It is the end of theta.
    norms
        Prefixes of the names of batch normalisations: each has ``weight``, ``bias`` and the buffers
        ``running_mean`` and ``running_var``. Empty where a net has none.
    """

    inputs: tuple[int, ...]
    classes: int
    features: int
    dtype: np.dtype[Any]
    layout: Layout
    head: tuple[str, ...]
    norms: tuple[str, ...]

    @property
    @abstractmethod
    def head_model(self) -> "Model":
        """The head alone: a model of theta[..., layout.where(head)] whose inputs are features.

        With the features of a frozen body worked out once, steps on personal parts need neither
        body nor copies of it; results are those of the whole model, bit for bit.
        """

    @abstractmethod
    def initial(self, stream: Stream) -> Floats:
        """Random parameters as torch draws them by default, shape (P,), addressed by name.

        Weights and biases of a layer with fan-in f are uniform in (-1/sqrt f, 1/sqrt f); those of a
        normalisation are 1 and 0, its running mean and variance 0 and 1.
        """

    @abstractmethod
    def forward(
        self, theta: Array, x: Array, mode: Mode = "eval", masks: Masks | None = None
    ) -> "Pass":
        """Logits and features of inputs x (..., n, *inputs) under parameters theta (..., P).

        `masks` draws what dropout keeps and is needed in mode "train" where the net has dropout.

        Raises
        ------
        ValueError
            Shapes that do not fit, batch statistics of a single value, or missing masks.
        """

    @abstractmethod
    def pass_bytes(self, n: int) -> int:
        """Bytes, about, that a pass of one client on n inputs keeps for its way back."""

    def _lead(self, theta: Array, x: Array) -> tuple[int, ...]:
        """Leading axes (...) of a pass, after a check of shapes."""
        rank, size = len(self.inputs), self.layout.size
        if theta.ndim < 1 or theta.shape[-1] != size:
            raise ValueError(f"parameters have shape {theta.shape}; wanted (..., {size})")
        if x.ndim < rank + 1 or x.shape[x.ndim - rank :] != self.inputs:
            wanted = ", ".join(str(n) for n in self.inputs)
            raise ValueError(f"inputs have shape {x.shape}; wanted (..., n, {wanted})")
        return np.broadcast_shapes(theta.shape[:-1], x.shape[: x.ndim - rank - 1])


class Pass(ABC):
    """What came out of a forward pass, and the way back.

    Attributes
    ----------
    logits
        Shape (..., n, K).
    features
        h(x), shape (..., n, d).
    """

    logits: Array
    features: Array

    @property
    @abstractmethod
    def moved(self) -> Array:
        """Parameters with the buffers that modes "follow" and "train" moved, (..., P), or theta.

        As in torch: momentum 0.1, the running variance of the unbiased one of the batch.
        """

    @abstractmethod
    def pullback(
        self, of_logits: Array | None, of_features: Array | None = None, only: Bools | None = None
    ) -> Array:
        """Gradient (..., P) of sum(of_logits * logits) + sum(of_features * features) in theta.

        It is 0 at buffers. Arrays of parameters in which `only` (P,) wants no number may be left at
        0, and no way back is gone further than the first array that is wanted.
        """


def floating(dtype: Any) -> np.dtype[Any]:
    """`dtype`, which is float32 or float64, or else a `SpecError`."""
    made: np.dtype[Any] = np.dtype(dtype)
    if made not in (np.float32, np.float64):
        raise SpecError(f"nets compute in float32 or float64, not in {made}; choose one of them")
    return made

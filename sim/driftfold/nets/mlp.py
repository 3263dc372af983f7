"""Multilayer perceptrons."""

from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Lt, MinLen

from driftfold.nets.base import Net, floating
from driftfold.nets.batch_norm import BatchNorm
from driftfold.nets.chain import Chain
from driftfold.nets.dropout import Dropout
from driftfold.nets.layer import Layer
from driftfold.nets.leaky_relu import LeakyRelu
from driftfold.nets.linear import Linear
from driftfold.registry import register


@register("mlp")
@dataclass(frozen=True)
class Mlp(Net):
    """Hidden layers (shared), then one linear layer (personal) on the last one's units.

    Names are ``body.0.weight``, ``body.0.bias``, ``body.0.norm.weight`` and so on, ``head.weight``,
    ``head.bias``. Stacks of clients are computed with NumPy, one product a client and layer.

    Attributes
    ----------
    hidden
        Sizes of the hidden layers.
    activation
        ``relu``, or ``leaky`` with slope 0.01 below 0.
    batch_norm
        Whether each hidden layer is normalised before its activation.
    dropout
        Share of the hidden units that mode "train" drops.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> model = Mlp((32, 16)).model((8, 8), classes=10)
    >>> model.features, model.layout.size, int(model.layout.where(model.head).sum())
    (16, 2778, 170)
    >>> theta = model.initial(Seed(1).stream("initial"))
    >>> ran = model.forward(theta, np.ones((5, 50, 8, 8)))  # 5 clients under one theta
    >>> ran.logits.shape, ran.features.shape
    ((5, 50, 10), (5, 50, 16))
    >>> ran.pullback(np.ones((5, 50, 10)) / 50).shape
    (5, 2778)
    """

    hidden: Annotated[tuple[Annotated[int, Ge(1)], ...], MinLen(1)] = (32, 16)
    activation: Literal["relu", "leaky"] = "relu"
    batch_norm: bool = False
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.0

    def model(self, inputs: tuple[int, ...], classes: int, dtype: Any = np.float64) -> Chain:
        """Bind it; inputs of any shape are flattened."""
        body: list[Layer] = []
        size = prod(inputs)
        for i, width in enumerate(self.hidden):
            name = f"body.{i}"
            body.append(Linear(name, size, width))
            if self.batch_norm:
                body.append(BatchNorm(f"{name}.norm", width))
            body.append(LeakyRelu(0.0 if self.activation == "relu" else 0.01))
            if self.dropout:
                body.append(Dropout(name, width, self.dropout))
            size = width
        top = [Linear("head", size, classes)]
        return Chain(tuple(inputs), classes, size, floating(dtype), body, top, ("head",))

"""Linear classifiers on features that are given, such as sentence vectors."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from driftfold.nets.base import Net, floating
from driftfold.nets.chain import Chain
from driftfold.nets.linear import Linear
from driftfold.registry import register


@register("linear_head")
@dataclass(frozen=True)
class LinearHead(Net):
    """One linear layer, all of it personal; the features h(x) are the inputs themselves.

    Names are ``head.weight`` and ``head.bias``.

    Attributes
    ----------
    bias
        Whether the layer has a bias.

    Examples
    --------
    >>> model = LinearHead().model((384,), classes=4)
    >>> model.features, model.layout.size, bool(model.layout.where(model.head).all())
    (384, 1540, True)
    """

    bias: bool = True

    def model(self, inputs: tuple[int, ...], classes: int, dtype: Any = np.float64) -> Chain:
        """Bind it; inputs of any shape are flattened."""
        size = prod(inputs)
        top = [Linear("head", size, classes, self.bias)]
        return Chain(tuple(inputs), classes, size, floating(dtype), (), top, ("head",))

"""The activation of the nets."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Array
from driftfold.nets.base import Mode
from driftfold.nets.layer import Layer, Trace
from driftfold.nets.masks import Masks


class LeakyRelu(Layer):
    """y = x where x > 0, else slope x, with a slope from 0 (plain ReLU) to below 1."""

    def __init__(self, slope: float) -> None:
        self.slope = slope

    def forward(
        self, parts: Mapping[str, Array], x: Array, mode: Mode, masks: Masks | None
    ) -> Trace:
        """Outputs in the place of the inputs."""
        np.maximum(x, self.slope * x if self.slope else 0, out=x)
        return _Bent(self.slope, x)


@dataclass(frozen=True)
class _Bent(Trace):
    slope: float
    y: Array

    def back(self, dy: Array, grads: Mapping[str, Array], to_input: bool) -> Array | None:
        # The sign of an output is that of its input; at 0 the slope counts, as in torch.
        if not to_input:
            return None
        if self.slope:
            return np.multiply(dy, self.slope, out=dy, where=self.y <= 0)
        return np.multiply(dy, self.y > 0, out=dy)

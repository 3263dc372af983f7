"""Linear maps."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.nets.base import Mode
from driftfold.nets.initial import uniform_by_fan_in
from driftfold.nets.layer import Layer, Trace
from driftfold.nets.layout import Entry
from driftfold.nets.masks import Masks
from driftfold.nets.summed import summed
from driftfold.rng import Stream


class Linear(Layer):
    """y = W x + b, W as rows of outputs."""

    def __init__(self, name: str, inputs: int, outputs: int, bias: bool = True) -> None:
        self.inputs, self.kept = inputs, outputs
        self.weight = Entry(f"{name}.weight", (outputs, inputs))
        self.bias = Entry(f"{name}.bias", (outputs,)) if bias else None
        self.entries = (self.weight,) if self.bias is None else (self.weight, self.bias)

    def initial(self, stream: Stream) -> Mapping[str, Floats]:
        """Uniform by fan-in."""
        return {e.name: uniform_by_fan_in(e, self.inputs, stream) for e in self.entries}

    def forward(
        self, parts: Mapping[str, Array], x: Array, mode: Mode, masks: Masks | None
    ) -> Trace:
        """One product a client."""
        weight = parts[self.weight.name]
        y = np.matmul(x, weight.swapaxes(-1, -2))
        if self.bias is not None:
            y += parts[self.bias.name][..., None, :]
        return _Applied(self, weight, x, y)


@dataclass(frozen=True)
class _Applied(Trace):
    layer: Linear
    weight: Array
    x: Array
    y: Array

    def back(self, dy: Array, grads: Mapping[str, Array], to_input: bool) -> Array | None:
        if (weight := grads.get(self.layer.weight.name)) is not None:
            np.matmul(dy.swapaxes(-1, -2), self.x, out=weight)
        if self.layer.bias and (bias := grads.get(self.layer.bias.name)) is not None:
            summed(dy, out=bias)
        return np.matmul(dy, self.weight) if to_input else None

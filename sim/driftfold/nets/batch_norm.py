"""Batch normalisation (Ioffe and Szegedy 2015) of the features of dense nets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.nets.base import Mode
from driftfold.nets.layer import Layer, Trace
from driftfold.nets.layout import Entry
from driftfold.nets.masks import Masks
from driftfold.rng import Stream

EPS = 1e-5
MOMENTUM = 0.1


class BatchNorm(Layer):
    """y = weight (x - mean)/sqrt(variance + 1e-5) + bias, mean and variance of each feature."""

    def __init__(self, name: str, width: int) -> None:
        self.name, self.width = name, width
        self.entries = norm_entries(name, width)

    def initial(self, stream: Stream) -> Mapping[str, Floats]:
        """The identity."""
        ones = ("weight", "running_var")
        return {
            e.name: np.ones(e.shape) if e.name.endswith(ones) else np.zeros(e.shape)
            for e in self.entries
        }

    def forward(
        self, parts: Mapping[str, Array], x: Array, mode: Mode, masks: Masks | None
    ) -> Trace:
        """Normalise by running statistics in mode "eval", else by those of the batch."""
        weight, bias, running_mean, running_var = (parts[e.name] for e in self.entries)
        n, moved = x.shape[-2], {}
        if mode == "eval":
            mean, var = running_mean, running_var
        else:
            if n < 2:
                raise ValueError(
                    f"batch statistics in mode {mode!r} need 2 inputs or more, got {n}; give "
                    'more, or use mode "eval"'
                )
            mean = np.add.reduce(x, axis=-2) / n
        x = np.subtract(x, mean[..., None, :], out=x)
        if mode != "eval":
            var = np.add.reduce(x * x, axis=-2) / n
        if mode == "train":
            means, variances = self.entries[2].name, self.entries[3].name
            moved[means] = running_mean * (1 - MOMENTUM) + mean * MOMENTUM
            moved[variances] = running_var * (1 - MOMENTUM) + var * (MOMENTUM * n / (n - 1))
        scale = 1 / np.sqrt(var + EPS)
        x *= scale[..., None, :]
        y = x * weight[..., None, :]
        y += bias[..., None, :]
        return _Normalised(self, y, x, weight * scale, mode == "eval", moved)


@dataclass(frozen=True)
class _Normalised(Trace):
    layer: BatchNorm
    y: Array
    x: Array
    slope: Array  # weight / sqrt(variance + eps)
    fixed: bool
    moved: Mapping[str, Array] = field(default_factory=dict)

    def back(self, dy: Array, grads: Mapping[str, Array], to_input: bool) -> Array | None:
        weight, bias = (grads.get(entry.name) for entry in self.layer.entries[:2])
        through = to_input and not self.fixed  # the statistics depend on the inputs, too
        if through or bias is not None:
            total = np.add.reduce(dy, axis=-2)
        if through or weight is not None:
            product = np.add.reduce(dy * self.x, axis=-2)
        if bias is not None:
            bias[...] = total
        if weight is not None:
            weight[...] = product
        if not to_input:
            return None
        if through:
            n = dy.shape[-2]
            dy -= (total / n)[..., None, :]
            dy -= self.x * (product / n)[..., None, :]
        dy *= self.slope[..., None, :]
        return dy


def norm_entries(name: str, width: int) -> tuple[Entry, Entry, Entry, Entry]:
    """Weight, bias, running mean and running variance, as torch names them.

    >>> [entry.name for entry in norm_entries("body.0.norm", 3) if entry.buffer]
    ['body.0.norm.running_mean', 'body.0.norm.running_var']
    """
    return (
        Entry(f"{name}.weight", (width,)),
        Entry(f"{name}.bias", (width,)),
        Entry(f"{name}.running_mean", (width,), buffer=True),
        Entry(f"{name}.running_var", (width,), buffer=True),
    )

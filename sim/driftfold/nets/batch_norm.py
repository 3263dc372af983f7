"""Batch normalisation of the units of dense nets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.nets.base import Mode
from driftfold.nets.layer import Layer, Trace
from driftfold.nets.masks import Masks
from driftfold.nets.normalisation import EPS, MOMENTUM, check_batch, identity, norm_entries
from driftfold.nets.summed import summed
from driftfold.rng import Stream


class BatchNorm(Layer):
    """y = weight (x - mean)/sqrt(variance + 1e-5) + bias, mean and variance of each feature."""

    def __init__(self, name: str, width: int) -> None:
        self.name, self.kept = name, width
        self.entries = norm_entries(name, width)

    def initial(self, stream: Stream) -> Mapping[str, Floats]:
        """The identity."""
        return identity(self.entries)

    def forward(
        self, parts: Mapping[str, Array], x: Array, mode: Mode, masks: Masks | None
    ) -> Trace:
        """Normalise by running statistics in mode "eval", else by those of the batch."""
        weight, bias, running_mean, running_var = (parts[e.name] for e in self.entries)
        n, moved = x.shape[-2], {}
        if mode == "eval":
            mean, var = running_mean, running_var
        else:
            check_batch(n, mode)
            mean = summed(x) / n
        x = np.subtract(x, mean[..., None, :], out=x)
        if mode != "eval":
            var = summed(x * x) / n
        if mode in ("follow", "train"):
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
            total = summed(dy)
        if through or weight is not None:
            product = summed(dy * self.x)
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

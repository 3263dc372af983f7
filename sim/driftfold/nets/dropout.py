"""Dropout of units."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Array
from driftfold.nets.base import Mode
from driftfold.nets.layer import Layer, Trace
from driftfold.nets.masks import Masks


class Dropout(Layer):
    """In mode "train", y = 0 for a share of the units and x / (1 - share) for the others."""

    def __init__(self, name: str, width: int, share: float) -> None:
        self.name, self.share, self.kept = name, share, 2 * width

    def forward(
        self, parts: Mapping[str, Array], x: Array, mode: Mode, masks: Masks | None
    ) -> Trace:
        """Outputs, which are the inputs themselves but in mode "train"."""
        if mode != "train" or not self.share:
            return _Dropped(x, None)
        factors = needed(masks, self.name).kept(self.name, x.shape[-2:], self.share)
        scaled = factors.astype(x.dtype) * x.dtype.type(1 / (1 - self.share))
        return _Dropped(x * scaled, scaled)


@dataclass(frozen=True)
class _Dropped(Trace):
    y: Array
    factors: Array | None

    def back(self, dy: Array, grads: Mapping[str, Array], to_input: bool) -> Array | None:
        return dy if self.factors is None else np.multiply(dy, self.factors, out=dy)


def needed(masks: Masks | None, layer: str) -> Masks:
    """The masks, or `ValueError` where there are none."""
    if masks is None:
        raise ValueError(
            f"dropout of {layer} needs masks in mode 'train', got none; pass Masks(stream, "
            'clients, visits), or use mode "batch"'
        )
    return masks

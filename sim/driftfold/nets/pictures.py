"""One client's pass through convolutions, in torch."""

from collections.abc import Mapping
from typing import Any

from driftfold.arrays import Array
from driftfold.nets.base import Mode
from driftfold.nets.dropout import needed
from driftfold.nets.masks import Masks
from driftfold.nets.normalisation import EPS, MOMENTUM, check_batch


class Pictures:
    """What stages need to make pictures of pictures, tensors (n, channels, height, width).

    Attributes
    ----------
    parts
        Parameters and buffers by name, tensors.
    functional
        ``torch.nn.functional``.
    moved
        Buffers by name as modes "follow" and "train" moved them.
    """

    def __init__(
        self, torch: Any, parts: Mapping[str, Array], mode: Mode, masks: Masks | None
    ) -> None:
        self.parts, self.functional = parts, torch.nn.functional
        self.moved: dict[str, Array] = {}
        self._torch, self._mode, self._masks = torch, mode, masks

    def normalised(self, name: str, x: Array) -> Array:
        """Normalise each channel by running statistics in mode "eval", else by the batch's."""
        weight, bias = self.parts[f"{name}.weight"], self.parts[f"{name}.bias"]
        names = (f"{name}.running_mean", f"{name}.running_var")
        running = [self.parts[each] for each in names]
        norm = self.functional.batch_norm
        if self._mode == "eval":
            return norm(x, *running, weight, bias, False, MOMENTUM, EPS)
        check_batch(x.shape[0] * x.shape[2] * x.shape[3], self._mode)
        if self._mode == "batch":
            return norm(x, None, None, weight, bias, True, MOMENTUM, EPS)
        moved = [each.clone() for each in running]
        self.moved |= zip(names, moved, strict=True)
        return norm(x, *moved, weight, bias, True, MOMENTUM, EPS)

    def bent(self, x: Array, slope: float) -> Array:
        """Activation in the place of x, which nothing else may need: slope x where x < 0."""
        if slope:
            return self.functional.leaky_relu(x, slope, inplace=True)
        return self.functional.relu(x, inplace=True)

    def dropped(self, name: str, x: Array, share: float) -> Array:
        """Drop a share of all numbers in mode "train"."""
        if self._mode != "train" or not share:
            return x
        n, channels, height, width = x.shape
        kept = needed(self._masks, name).kept(name, (n, height, width, channels), share)
        factors = self._torch.from_numpy(kept).permute(0, 3, 1, 2).to(x.dtype)
        return x * factors.mul_(1 / (1 - share))

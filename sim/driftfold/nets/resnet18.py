"""Residual nets of 18 layers for small pictures."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from driftfold.nets.base import Net, floating
from driftfold.nets.convolutional import Convolutional, channels_of
from driftfold.nets.convolved import Convolved
from driftfold.nets.linear import Linear
from driftfold.nets.residual import Residual
from driftfold.nets.stage import Stage
from driftfold.registry import register


@register("resnet18")
@dataclass(frozen=True)
class ResNet18(Net):
    """A 3 x 3 stem and four stages of two blocks (shared), one linear layer (personal).

    ResNet-18 (He et al. 2016) without the first pooling, for pictures of 32 x 32 or 64 x 64. Names
    are ``body.stem.conv.weight``, ``body.0.0.conv1.weight`` and so on, ``head.weight``.

    Attributes
    ----------
    width
        Channels of the stem and the first stage; each later stage has twice as many.

    Examples
    --------
    >>> model = ResNet18().model((64, 64, 3), classes=200, dtype=np.float32)
    >>> model.features, int((~model.layout.buffers).sum())
    (512, 11271432)
    """

    packages: ClassVar[tuple[str, ...]] = ("torch",)

    width: Annotated[int, Ge(1)] = 64

    def model(
        self, inputs: tuple[int, ...], classes: int, dtype: Any = np.float64
    ) -> Convolutional:
        """Bind it to pictures (height, width) or (height, width, channels)."""
        size = self.width
        channels = channels_of(inputs, "resnet18")
        stages: list[Stage] = [
            Convolved("body.stem.conv", "body.stem.norm", channels, size, slope=0.0)
        ]
        for i in range(4):
            wide = self.width * 2**i
            stages += [
                Residual(f"body.{i}.0", size, wide, stride=1 if i == 0 else 2),
                Residual(f"body.{i}.1", wide, wide),
            ]
            size = wide
        top = (Linear("head", size, classes),)
        return Convolutional(tuple(inputs), classes, floating(dtype), stages, top, ("head",))

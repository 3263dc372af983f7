"""The small residual net of the Fed-ADE experiments."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Lt

from driftfold.nets.base import Net, floating
from driftfold.nets.convolutional import Convolutional, channels_of
from driftfold.nets.leaky_relu import LeakyRelu
from driftfold.nets.linear import Linear
from driftfold.nets.residual import Residual
from driftfold.registry import register

_SLOPE = 0.01
_Share = Annotated[float, Ge(0), Lt(1)]


@register("mini_resnet6")
@dataclass(frozen=True)
class MiniResNet6(Net):
    """Three residual blocks (shared), and two linear layers on their mean over pixels (personal).

    Channels 32, 64, 128, strides 1, 2, 2, shortcuts of 1 x 1 convolutions; then 128 to 64 units,
    leaky ReLU, and the classes: 307,146 parameters for 10 classes and 3 channels, 8,906 of them
    personal. Names are ``body.0.conv1.weight``, ``body.0.norm1.weight``,
    ``body.0.shortcut.conv.weight`` and so on, ``head.0.weight``, ``head.1.weight``.

    Attributes
    ----------
    dropout
        Share of numbers that mode "train" drops in each block.

    Examples
    --------
    >>> model = MiniResNet6().model((32, 32, 3), classes=10, dtype=np.float32)
    >>> model.features, int((~model.layout.buffers).sum()), int(model.layout.where(["head"]).sum())
    (128, 307146, 8906)
    """

    packages: ClassVar[tuple[str, ...]] = ("torch",)

    dropout: tuple[_Share, _Share, _Share] = (0.5, 0.5, 0.3)

    def model(
        self, inputs: tuple[int, ...], classes: int, dtype: Any = np.float64
    ) -> Convolutional:
        """Bind it to pictures (height, width) or (height, width, channels)."""
        widths = (channels_of(inputs, "mini_resnet6"), 32, 64, 128)
        stages = [
            Residual(f"body.{i}", widths[i], widths[i + 1], stride, _SLOPE, self.dropout[i])
            for i, stride in enumerate((1, 2, 2))
        ]
        top = (Linear("head.0", 128, 64), LeakyRelu(_SLOPE), Linear("head.1", 64, classes))
        return Convolutional(tuple(inputs), classes, floating(dtype), stages, top, ("head",))

"""Residual blocks (He et al. 2016)."""

from collections.abc import Mapping
from dataclasses import dataclass

from driftfold.arrays import Array, Floats
from driftfold.nets.convolved import Convolved
from driftfold.nets.layout import Entry
from driftfold.nets.pictures import Pictures
from driftfold.nets.stage import Stage
from driftfold.rng import Stream


@dataclass(frozen=True)
class Residual(Stage):
    """ReLU(C2(drop(bend(C1 x))) + S x), C convolved by 3 x 3, S by 1 x 1 or the identity.

    Attributes
    ----------
    name
        Prefix of its names.
    inputs, outputs, stride
        Channels, and steps of the first convolution and of the shortcut. The shortcut is the
        identity where neither the channels nor the size change.
    slope
        Of the activation between the convolutions, below 0.
    dropout
        Share of its outputs that mode "train" drops.
    """

    name: str
    inputs: int
    outputs: int
    stride: int = 1
    slope: float = 0.0
    dropout: float = 0.0

    @property
    def stages(self) -> tuple[Convolved, ...]:
        """The two convolutions, and the shortcut's where it is no identity."""
        name, wide = self.name, self.outputs
        conv1, norm1 = f"{name}.conv1", f"{name}.norm1"
        first = Convolved(conv1, norm1, self.inputs, wide, 3, self.stride, self.slope)
        second = Convolved(f"{name}.conv2", f"{name}.norm2", wide, wide)
        if self.inputs == wide and self.stride == 1:
            return first, second
        short = (f"{name}.shortcut.conv", f"{name}.shortcut.norm")
        return first, second, Convolved(*short, self.inputs, wide, 1, self.stride)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Arrays of all its convolutions."""
        return tuple(entry for stage in self.stages for entry in stage.entries)

    @property
    def norms(self) -> tuple[str, ...]:
        """Names of the convolutions' normalisations."""
        return tuple(norm for stage in self.stages for norm in stage.norms)

    def initial(self, stream: Stream) -> Mapping[str, Floats]:
        """First values of all its convolutions."""
        made: dict[str, Floats] = {}
        for stage in self.stages:
            made |= stage.initial(stream)
        return made

    def size(self, pixels: tuple[int, int]) -> tuple[int, int]:
        """Divided by the stride."""
        return self.stages[0].size(pixels)

    def kept(self, pixels: tuple[int, int]) -> int:
        """As much for each convolution: all make pictures of one size."""
        return len(self.stages) * self.stages[0].kept(pixels)

    def apply(self, run: Pictures, x: Array) -> Array:
        """Two convolutions and a way around them."""
        first, second, *shortcut = self.stages
        y = run.dropped(self.name, first.apply(run, x), self.dropout)
        y = second.apply(run, y)
        return run.bent(y + (shortcut[0].apply(run, x) if shortcut else x), 0.0)

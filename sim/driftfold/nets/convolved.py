"""Convolutions that are normalised."""

from collections.abc import Mapping
from dataclasses import dataclass

from driftfold.arrays import Array, Floats
from driftfold.nets.initial import uniform_by_fan_in
from driftfold.nets.layout import Entry
from driftfold.nets.normalisation import identity, norm_entries
from driftfold.nets.pictures import Pictures
from driftfold.nets.stage import Stage
from driftfold.rng import Stream


@dataclass(frozen=True)
class Convolved(Stage):
    """Convolution without bias, then batch normalisation, then an activation or none.

    Attributes
    ----------
    conv, norm
        Names of the two.
    inputs, outputs
        Channels.
    kernel
        Its width, 1 or 3; the picture is padded by half of it.
    stride
        Steps of the kernel.
    slope
        Of the activation below 0, or None for no activation.
    """

    conv: str
    norm: str
    inputs: int
    outputs: int
    kernel: int = 3
    stride: int = 1
    slope: float | None = None

    @property
    def weight(self) -> Entry:
        """Kernels (outputs, inputs, kernel, kernel)."""
        shape = (self.outputs, self.inputs, self.kernel, self.kernel)
        return Entry(f"{self.conv}.weight", shape)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Kernels, and the normalisation's arrays."""
        return (self.weight, *norm_entries(self.norm, self.outputs))

    @property
    def norms(self) -> tuple[str, ...]:
        """The one."""
        return (self.norm,)

    def initial(self, stream: Stream) -> Mapping[str, Floats]:
        """Kernels uniform by fan-in."""
        kernels = uniform_by_fan_in(self.weight, self.inputs * self.kernel**2, stream)
        return {self.weight.name: kernels, **identity(self.entries[1:])}

    def size(self, pixels: tuple[int, int]) -> tuple[int, int]:
        """Divided by the stride, rounded up."""
        return -(-pixels[0] // self.stride), -(-pixels[1] // self.stride)

    def kept(self, pixels: tuple[int, int]) -> int:
        """What is convolved, and what is normalised."""
        height, width = self.size(pixels)
        return 2 * self.outputs * height * width

    def apply(self, run: Pictures, x: Array) -> Array:
        """Convolve, normalise, bend."""
        kernels, stride = run.parts[self.weight.name], self.stride
        if self.kernel == 1 and stride > 1:
            # The pixels it looks at, first: the way back of a strided convolution by 1 x 1, with
            # channels last and few of them, wrote beyond its memory (torch 2.13, oneDNN).
            x, stride = x[:, :, ::stride, ::stride], 1
        y = run.functional.conv2d(x, kernels, None, stride, self.kernel // 2)
        y = run.normalised(self.norm, y)
        return y if self.slope is None else run.bent(y, self.slope)

"""MNIST."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.idx_set import read_idx_set
from driftfold.data.pixels import Pixels
from driftfold.registry import register
from driftfold.rng import Seed


@register("mnist")
@dataclass(frozen=True)
class Mnist(Data):
    """MNIST: 60,000 training or 10,000 test images of handwritten digits, 28 x 28 grey.

    LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document recognition"
    (1998). ``driftfold data get mnist`` fetches it.

    Attributes
    ----------
    split
        Which images.
    limit
        Use only this many images from the start, or None for all.
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred`` or ``standardised``.
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Mnist(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: mnist is not in nowhere: no train-images-idx3-ubyte, ...
    """

    split: Literal["train", "test"] = "train"
    limit: Annotated[int, Gt(0)] | None = None
    pixels: Pixels = "unit"
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the files after checking them; the seed is not used."""
        return read_idx_set("mnist", self.split, self.limit, self.pixels, self.folder)

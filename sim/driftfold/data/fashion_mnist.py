"""Fashion-MNIST: a cut that comes with the package, and the whole."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.idx_format import read_idx
from driftfold.data.idx_set import read_idx_set
from driftfold.data.included import checked
from driftfold.data.pixels import Pixels, features
from driftfold.registry import register
from driftfold.rng import Seed

FOLDER = Path(__file__).parent / "fashion_mnist_cut"
SHA256 = {
    "images-idx3-ubyte.gz": "04f5aa5d5f6a4c8f0dd411e18833be7967eff142e2054803eff5a0d6ea4911ac",
    "labels-idx1-ubyte.gz": "74b4dc42565ab3bcf8af68ed8d3139e53892071e72539c0fe543ce34c4b237a0",
}


@register("fashion_mnist_cut")
@dataclass(frozen=True)
class FashionMnistCut(Data):
    """2,000 training images of Fashion-MNIST, 200 of each of ten classes, 28 x 28 grey pixels.

    Xiao, Rasul, Vollgraf, "Fashion-MNIST: a novel image dataset for benchmarking machine learning
    algorithms" (arXiv 1708.07747), MIT licence. The folder ``fashion_mnist_cut`` beside this file
    says how the images were chosen; results on them are not results on Fashion-MNIST.

    Attributes
    ----------
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred`` or ``standardised`` (see `driftfold.data.pixels`).

    Examples
    --------
    >>> data = FashionMnistCut().load(Seed(0))
    >>> data.x.shape, np.bincount(data.y).tolist()
    ((2000, 784), [200, 200, 200, 200, 200, 200, 200, 200, 200, 200])
    """

    pixels: Pixels = "unit"

    def load(self, seed: Seed) -> Dataset:
        """Read the files after checking them; the seed is not used."""
        images, labels = (checked(FOLDER / name, digest) for name, digest in SHA256.items())
        y = read_idx(labels, dimensions=1).astype(np.int64)
        pictures = read_idx(images, dimensions=3)
        return Dataset(x=features(pictures, self.pixels), y=y, shape=pictures.shape[1:])


@register("fashion_mnist")
@dataclass(frozen=True)
class FashionMnist(Data):
    """Fashion-MNIST whole: 60,000 training or 10,000 test images, 28 x 28 grey, ten classes.

    ``driftfold data get fashion_mnist`` fetches it.

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
    >>> FashionMnist(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: fashion_mnist is not in nowhere: ...; run 'driftfold data get ...
    """

    split: Literal["train", "test"] = "train"
    limit: Annotated[int, Gt(0)] | None = None
    pixels: Pixels = "unit"
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the files after checking them; the seed is not used."""
        return read_idx_set("fashion_mnist", self.split, self.limit, self.pixels, self.folder)

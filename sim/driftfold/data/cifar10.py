"""CIFAR-10."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.cifar_format import SHAPE, parse_binary, parse_pickle
from driftfold.data.limit import within
from driftfold.data.pixels import ColourPixels, colour_features
from driftfold.registry import register
from driftfold.rng import Seed

_FILES = {"train": tuple(f"data_batch_{k}" for k in range(1, 6)), "test": ("test_batch",)}


@register("cifar10")
@dataclass(frozen=True)
class Cifar10(Data):
    """CIFAR-10: 50,000 training or 10,000 test images, 32 x 32 RGB, as rows of 3,072 numbers.

    Krizhevsky, "Learning multiple layers of features from tiny images" (2009). A row holds the
    red, then the green, then the blue plane. Both published versions are read, the binary one and
    the pickles (without running code from them). In float64 the training set takes 1.2 GB.

    Attributes
    ----------
    split
        Which images.
    limit
        Use only this many images from the start, or None for all.
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred``, ``standardised``, or ``channels``: each channel
        less its mean (.4914, .4822, .4465), divided by (.2023, .1994, .2010).
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Cifar10(folder="nowhere", split="test").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: cifar10 is not in nowhere: no cifar-10-batches-bin/test_batch.bin...
    """

    split: Literal["train", "test"] = "train"
    limit: Annotated[int, Gt(0)] | None = None
    pixels: ColourPixels = "channels"
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the files after checking them; the seed is not used."""
        found = read_set("cifar10", self.folder, only=_FILES[self.split])
        parse = parse_binary if found.form == "binary" else parse_pickle
        parts = [parse(content, found.places[name]) for name, content in found.files.items()]
        images = np.concatenate([part for part, _ in parts])
        classes = np.concatenate([part for _, part in parts])
        count = within(self.limit, len(classes), f"the {self.split} part of cifar10")
        x = colour_features(images[:count], self.pixels)
        return Dataset(x=x, y=classes[:count], shape=SHAPE)

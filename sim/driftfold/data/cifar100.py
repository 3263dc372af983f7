"""CIFAR-100."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.cifar_format import SHAPE, parse_binary_100, parse_pickle_100
from driftfold.data.limit import within
from driftfold.data.pixels import Pixels, features
from driftfold.registry import register
from driftfold.rng import Seed


@register("cifar100")
@dataclass(frozen=True)
class Cifar100(Data):
    """CIFAR-100: 50,000 training or 10,000 test images, 32 x 32 RGB, 100 classes in 20 groups.

    Krizhevsky, "Learning multiple layers of features from tiny images" (2009). Rows are as those
    of `Cifar10`. Both published versions are read, the binary one and the pickles (without running
    code from them). In float64 the training set takes 1.2 GB.

    Attributes
    ----------
    split
        Which images.
    labels
        ``fine``: 100 classes. ``coarse``: the 20 groups are the classes, and the fine class is the
        domain of an image, which may drift while classes stay.
    limit
        Use only this many images from the start, or None for all.
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred`` or ``standardised``.
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Cifar100(folder="nowhere", split="test").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: cifar100 is not in nowhere: no cifar-100-binary/test.bin there; ...
    """

    split: Literal["train", "test"] = "train"
    labels: Literal["fine", "coarse"] = "fine"
    limit: Annotated[int, Gt(0)] | None = None
    pixels: Pixels = "unit"
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the file after checking it; the seed is not used."""
        found = read_set("cifar100", self.folder, only=[self.split])
        parse = parse_binary_100 if found.form == "binary" else parse_pickle_100
        (name, content), *_ = found.files.items()
        images, fine, coarse = parse(content, found.places[name])
        count = within(self.limit, len(fine), f"the {self.split} part of cifar100")
        return Dataset(
            x=features(images[:count], self.pixels),
            y=(fine if self.labels == "fine" else coarse)[:count],
            domain=None if self.labels == "fine" else fine[:count],
            shape=SHAPE,
        )

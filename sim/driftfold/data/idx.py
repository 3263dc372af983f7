"""Images and labels from files in the format of MNIST."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.idx_format import read_idx
from driftfold.data.pixels import Pixels, features
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed


@register("idx")
@dataclass(frozen=True)
class Idx(Data):
    """An idx file of images and one of labels, each plain or gzip-compressed.

    Attributes
    ----------
    images
        Path of the image file (magic 00 00 08 03), such as ``train-images-idx3-ubyte.gz``.
    labels
        Path of the label file (magic 00 00 08 01), or None for images without labels.
    limit
        Use only this many images from the start, or None for all.
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred`` or ``standardised`` (see `driftfold.data.pixels`).

    Examples
    --------
    >>> Idx("no-such-file.gz").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: cannot read no-such-file.gz (No such file or directory); ...
    """

    images: str
    labels: str | None = None
    limit: Annotated[int, Gt(0)] | None = None
    pixels: Pixels = "unit"

    def load(self, seed: Seed) -> Dataset:
        """Read the files; the seed is not used."""
        images = read_idx(Path(self.images), dimensions=3)
        if images.size == 0:
            raise DataError(
                f"{self.images} holds no image (shape {images.shape}); use another file"
            )
        y = None
        if self.labels is not None:
            y = read_idx(Path(self.labels), dimensions=1).astype(np.int64)
            if len(y) != len(images):
                raise DataError(
                    f"{self.images} holds {len(images)} images but {self.labels} {len(y)} labels; "
                    "name two files that belong together"
                )
        if self.limit is not None and self.limit > len(images):
            raise DataError(
                f"{self.images} holds {len(images)} images, fewer than the limit of {self.limit}; "
                "lower the limit or leave it out"
            )
        x = features(images[: self.limit], self.pixels)
        y = None if y is None else y[: self.limit]
        return Dataset(x=x, y=y, shape=images.shape[1:])

"""Tiny ImageNet."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.limit import within
from driftfold.data.picture_rows import picture_rows
from driftfold.data.pixels import Pixels, features
from driftfold.data.taking_turns import taking_turns
from driftfold.data.tiny_imagenet_files import SHAPE, open_pictures
from driftfold.registry import register
from driftfold.rng import Seed


@register("tiny_imagenet")
@dataclass(frozen=True)
class TinyImageNet(Data):
    """Tiny ImageNet: 100,000 training or 10,000 validation images, 64 x 64 RGB, 200 classes.

    Le and Yang, "Tiny ImageNet visual recognition challenge" (2015). Classes are numbered in the
    alphabetical order of their WordNet numbers and take turns, so that a limit leaves them
    balanced. Rows hold the red, then the green, then the blue plane; the training set takes 9.8 GB
    in float64. The published zip is read as it is, or unpacked. Decoded pictures are kept beside
    it (1.2 GB) where the folder can be written.

    Attributes
    ----------
    split
        Which images; those of the test part have no published classes.
    limit
        Use only this many images, or None for all.
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred`` or ``standardised``.
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> TinyImageNet(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: tiny_imagenet is not in nowhere: no tiny-imagenet-200.zip there; ...
    """

    split: Literal["train", "val"] = "train"
    limit: Annotated[int, Gt(0)] | None = None
    pixels: Pixels = "unit"
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the images after checking the files; the seed is not used."""
        pictures, labels = open_pictures(self.split, self.folder)
        rows = taking_turns(labels, np.ones(len(labels), dtype=bool))
        rows = rows[: within(self.limit, len(rows), f"the {self.split} part of tiny_imagenet")]
        x = features(picture_rows(pictures[rows], SHAPE), self.pixels)
        return Dataset(x=x, y=labels[rows], shape=SHAPE)

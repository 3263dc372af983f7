"""Images of a set that is spread as MNIST is: four idx files."""

from typing import Literal

import numpy as np

from driftfold.data.base import Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.idx_format import parse_idx
from driftfold.data.limit import within
from driftfold.data.pixels import Pixels, features

_PREFIX = {"train": "train", "test": "t10k"}


def read_idx_set(
    name: str,
    split: Literal["train", "test"],
    limit: int | None,
    pixels: Pixels,
    folder: str | None,
) -> Dataset:
    """Read the images and labels of one split; raises `DataError` as `read_set` does."""
    images, labels = (
        f"{_PREFIX[split]}-{what}" for what in ("images-idx3-ubyte", "labels-idx1-ubyte")
    )
    found = read_set(name, folder, only=(images, labels))
    x = parse_idx(found.files[images], found.places[images], dimensions=3)
    y = parse_idx(found.files[labels], found.places[labels], dimensions=1).astype(np.int64)
    count = within(limit, len(x), f"the {split} part of {name}")
    return Dataset(x=features(x[:count], pixels), y=y[:count], shape=x.shape[1:])

"""Descriptors of the tiles of PathMNIST."""

import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Array
from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.descriptors import RIDGE, Descriptor, covariances
from driftfold.data.limit import within
from driftfold.data.spd_rows import rows_of
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed


@register("pathmnist")
@dataclass(frozen=True)
class PathMnist(Data):
    """SPD matrices, 9 x 9, of tiles of colon tissue, with one of nine classes each.

    Yang et al., "MedMNIST v2" (2023); Kather et al. (2019). The defaults are those of the RFedAGS
    experiment on Frechet means, 20,000 random tiles of the training set and square roots of their
    matrices; which recipe it uses is not published, ``grey`` is the likeliest.

    Attributes
    ----------
    split
        Which tiles: 89,996 ``train``, 10,004 ``val``, 7,180 ``test``.
    samples
        How many of them, drawn at random, or "all" in order.
    descriptor
        Recipe of a matrix: ``grey`` or ``colour`` (see `driftfold.data.descriptors`).
    root
        Whether to take each matrix's square root.
    ridge
        Multiple of the identity that is added, or None for the recipe's own.
    folder
        Where pathmnist.npz lies; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> PathMnist(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: pathmnist is not in nowhere: no pathmnist.npz there; put ...
    """

    split: Literal["train", "val", "test"] = "train"
    samples: Annotated[int, Gt(0)] | Literal["all"] = 20_000
    descriptor: Descriptor = "grey"
    root: bool = True
    ridge: Annotated[float, Ge(0)] | None = None
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Draw tiles and describe them."""
        found = read_set("pathmnist", self.folder)
        (name, content), *_ = found.files.items()
        images, labels = unpack(content, self.split, found.places[name])
        rows = np.arange(len(images))
        if self.samples != "all":
            count = within(self.samples, len(images), f"the {self.split} part of pathmnist")
            rows = seed.stream("tiles").subsets(0, 0, len(images), count)
        ridge = RIDGE[self.descriptor] if self.ridge is None else self.ridge
        made = covariances(images[rows], self.descriptor)
        x = rows_of(made, root=self.root, ridge=ridge, source="pathmnist")
        return Dataset(x=x, y=labels[rows].reshape(-1).astype(np.int64))


def unpack(content: bytes, split: str, where: object) -> tuple[Array, Array]:
    """Images (n, h, w, 3) and labels (n, 1) of one split."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            return archive[f"{split}_images"], archive[f"{split}_labels"]
    except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{where} is no sound file of PathMNIST ({error}); obtain it again") from (
            None
        )

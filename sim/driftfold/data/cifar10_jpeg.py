"""JPEG copies of CIFAR-10, which are not CIFAR-10."""

import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array
from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.cifar_format import SHAPE
from driftfold.data.limit import within
from driftfold.data.pictures import decode
from driftfold.data.pixels import ColourPixels, colour_features
from driftfold.data.taking_turns import taking_turns
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

SHA256 = "e32f02387534a0231210c41c345129511f4447c5012bf2d07699a34dfcb040dd"
"""Of the arrays jpeg, start, label and is_test, end to end: the file's own bytes depend on the
program that packed it."""


@register("cifar10_jpeg")
@dataclass(frozen=True)
class Cifar10Jpeg(Data):
    """CIFAR-10, JPEG copies: coded with loss, so results on them are not results on CIFAR-10.

    50,000 training or 10,000 test images, 32 x 32 RGB, as rows of 3,072 numbers: the red, then
    the green, then the blue plane. The copies come sorted by class; here classes take turns, so
    that a limit leaves them balanced.

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
        Where the file lies; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Cifar10Jpeg(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: cifar10_jpeg is not in nowhere: no cifar10_jpeg.npz there; get ...
    """

    split: Literal["train", "test"] = "train"
    limit: Annotated[int, Gt(0)] | None = None
    pixels: ColourPixels = "channels"
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read and decode the images; the seed is not used."""
        found = read_set("cifar10_jpeg", self.folder)
        (name, content), *_ = found.files.items()
        arrays = unpack(content, found.places[name])
        rows = taking_turns(arrays["label"], arrays["is_test"] == (self.split == "test"))
        rows = rows[: within(self.limit, len(rows), f"the {self.split} part of cifar10_jpeg")]
        coded, start = arrays["jpeg"], arrays["start"]
        planes = np.empty((len(rows), 3, 1024), np.uint8)
        for out, row in zip(planes, rows.tolist(), strict=True):
            picture = decode(coded[start[row] : start[row + 1]].tobytes(), f"image {row} of {name}")
            out[...] = picture.reshape(1024, 3).T
        y = arrays["label"][rows].astype(np.int64)
        return Dataset(x=colour_features(planes, self.pixels), y=y, shape=SHAPE)


def unpack(content: bytes, where: object, digest: str = SHA256) -> dict[str, Array]:
    """Return the arrays of the file, if they are the ones this version of driftfold knows."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ("jpeg", "start", "label", "is_test")}
    except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{where} is no sound file of these copies ({error}); pack it again") from (
            None
        )
    got = digest_of(arrays)
    if got != digest:
        raise DataError(
            f"the arrays of {where} have SHA-256 {got}, wanted {digest}: these are other copies; "
            "pack the ones that 'driftfold data list' names"
        )
    return arrays


def digest_of(arrays: dict[str, Array]) -> str:
    """SHA-256 of the four arrays, end to end, in little-endian order."""
    sha = hashlib.sha256()
    for name, kind in (("jpeg", "u1"), ("start", "<i8"), ("label", "u1"), ("is_test", "u1")):
        sha.update(np.ascontiguousarray(arrays[name], dtype=kind).tobytes())
    return sha.hexdigest()

"""CIFAR-10-C and CIFAR-100-C: test images under 19 corruptions at five severities."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.data.base import Dataset
from driftfold.data.catalogue import find_set
from driftfold.data.limit import within
from driftfold.data.picture_rows import picture_rows
from driftfold.data.pixels import Pixels, features
from driftfold.errors import DataError
from driftfold.registry import unknown

SEVERITIES = 5

Corruption: TypeAlias = Literal[
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
    "gaussian_blur",
    "saturate",
    "spatter",
    "speckle_noise",
]
"""The 15 corruptions of the benchmark in its order, then four for validation."""


@dataclass(frozen=True)
class CorruptedImages:
    """The same n images under several corruptions, left on disk until they are asked for.

    Attributes
    ----------
    arrays
        Pictures of bytes of each corruption, shape (5 n, H, W, 3), severity after severity.
    labels
        Class of each image, shape (n,).
    """

    arrays: Mapping[str, Array]
    labels: Ints

    def pictures(self, corruption: str, severity: int) -> Array:
        """Return the images under a corruption at a severity 1 .. 5, shape (n, H, W, 3), bytes.

        Row i is always the same image. Raises `DataError` for what was not opened.
        """
        if corruption not in self.arrays or not 1 <= severity <= SEVERITIES:
            raise DataError(
                f"no images under {corruption!r} at severity {severity} were opened; "
                f"{', '.join(self.arrays) or 'none'} have severities 1 .. {SEVERITIES}"
            )
        n = len(self.labels)
        return self.arrays[corruption][(severity - 1) * n : severity * n]


def open_corrupted(
    name: Literal["cifar10_c", "cifar100_c"],
    corruptions: Iterable[str],
    folder: str | Path | None = None,
) -> CorruptedImages:
    """Open the files of some corruptions, after checking them, without reading them in.

    Parameters
    ----------
    name
        The set.
    corruptions
        Names of `Corruption`.
    folder
        Where the files lie, or None for what `data_folder` says.

    Raises
    ------
    DataError
        A file is missing (the message says how to obtain the set) or is not sound.

    Examples
    --------
    >>> open_corrupted("cifar10_c", ["fog"], "nowhere")
    Traceback (most recent call last):
    driftfold.errors.DataError: cifar10_c is not in nowhere: no CIFAR-10-C/fog.npy, ...
    """
    corruptions = list(corruptions)
    for corruption in corruptions:
        if corruption not in get_args(Corruption):
            raise DataError(unknown("corruption", corruption, get_args(Corruption)))
    places = dict(find_set(name, folder, only=[*corruptions, "labels"]).places)
    labels = _mapped(places.pop("labels.npy"))
    n, rest = divmod(len(labels), SEVERITIES)
    if rest or labels.ndim != 1 or labels.dtype != np.uint8:
        raise DataError(
            f"labels.npy of {name} holds {labels.dtype} {labels.shape}; wanted bytes, those of the "
            f"images {SEVERITIES} times"
        )
    arrays = {place.stem: _mapped(place) for place in places.values()}
    for corruption, array in arrays.items():
        if array.ndim != 4 or len(array) != len(labels) or array.dtype != np.uint8:
            raise DataError(
                f"{places[f'{corruption}.npy']} holds {array.dtype} {array.shape}; wanted bytes "
                f"({len(labels)}, H, W, 3)"
            )
    return CorruptedImages(arrays, labels[:n].astype(np.int64))


def read_corrupted(
    name: Literal["cifar10_c", "cifar100_c"],
    corruption: Corruption,
    severity: int,
    limit: int | None,
    pixels: Pixels,
    folder: str | None,
) -> Dataset:
    """Read the images under one corruption at one severity; raises as `open_corrupted` does."""
    opened = open_corrupted(name, [corruption], folder)
    count = within(limit, len(opened.labels), f"{name} at one severity")
    pictures = opened.pictures(corruption, severity)[:count]
    shape = pictures.shape[1:]
    return Dataset(
        x=features(picture_rows(pictures, shape), pixels), y=opened.labels[:count], shape=shape
    )


def _mapped(path: Path) -> Array:
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} is no sound .npy file ({error}); obtain it again") from None
    return array

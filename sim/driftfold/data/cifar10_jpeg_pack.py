"""Packs JPEG copies of CIFAR-10 into the one file that `cifar10_jpeg` reads.

Usage: ``python -m driftfold.data.cifar10_jpeg_pack IMAGES cifar10_jpeg.npz``, where IMAGES holds
``train/CLASS/*.jpg`` and ``test/CLASS/*.jpg``.
"""

import sys
from pathlib import Path

import numpy as np

from driftfold.arrays import Array
from driftfold.errors import DataError
from driftfold.npz import write_npz


def pack(images: Path) -> dict[str, Array]:
    """Return all files end to end, where each starts, its class, and whether it is for testing.

    Files are taken in alphabetical order of their path, classes numbered in that of their names.
    """
    found = sorted(path.relative_to(images).as_posix() for path in images.glob("t*/*/*.jpg"))
    found = [name for name in found if name.partition("/")[0] in ("train", "test")]
    if not found:
        raise DataError(f"{images} holds no train/CLASS/*.jpg and no test/CLASS/*.jpg")
    names = sorted({name.split("/")[1] for name in found})
    contents = [(images / name).read_bytes() for name in found]
    return {
        "jpeg": np.frombuffer(b"".join(contents), np.uint8),
        "start": np.cumsum([0, *map(len, contents)], dtype=np.int64),
        "label": np.array([names.index(name.split("/")[1]) for name in found], np.uint8),
        "is_test": np.array([name.startswith("test/") for name in found]),
        "names": np.array(names),
    }


if __name__ == "__main__":
    with Path(sys.argv[2]).open("wb") as file:
        write_npz(file, pack(Path(sys.argv[1])))

"""The two formats in which CIFAR-10 is published."""

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.data.plain_pickle import load_plain
from driftfold.errors import DataError

SHAPE = (32, 32, 3)
PLANES = 3 * 32 * 32
"""Bytes of an image: red, green and blue plane, row by row."""


def parse_binary(content: bytes, where: object) -> tuple[Array, Ints]:
    """Images (n, 3, 1024) and classes (n,) of a file of the binary version.

    >>> images, classes = parse_binary(bytes([7]) + bytes(3072), "here")
    >>> images.shape, classes
    ((1, 3, 1024), array([7]))
    """
    if not content or len(content) % (1 + PLANES):
        raise DataError(
            f"{where} holds {len(content):,} bytes, which are no records of {1 + PLANES:,} (a "
            "class and an image); obtain it again"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, 1 + PLANES)
    return _checked(records[:, 1:], records[:, 0], where)


def parse_pickle(content: bytes, where: object) -> tuple[Array, Ints]:
    """Images (n, 3, 1024) and classes (n,) of a file of the Python version."""
    batch = load_plain(content, where)
    if not isinstance(batch, dict) or not {b"data", b"labels"} <= set(batch):
        raise DataError(f"{where} has no 'data' and 'labels'; obtain the published batches")
    return _checked(np.asarray(batch[b"data"]), np.asarray(batch[b"labels"]), where)


def _checked(images: Array, classes: Array, where: object) -> tuple[Array, Ints]:
    sound = (
        images.dtype == np.uint8
        and images.shape == (len(classes), PLANES)
        and classes.ndim == 1
        and classes.dtype.kind in "ui"
    )
    if not sound or not (classes < 10).all() or (classes < 0).any():
        raise DataError(
            f"{where} has images of {images.dtype} {images.shape} and classes of {classes.dtype} "
            f"{classes.shape}; wanted bytes (n, {PLANES}) and n numbers 0 .. 9"
        )
    return images.reshape(-1, 3, PLANES // 3), classes.astype(np.int64)

"""The two formats in which CIFAR-10 and CIFAR-100 are published."""

from collections.abc import Sequence

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.data.plain_pickle import load_plain
from driftfold.errors import DataError

SHAPE = (32, 32, 3)
PLANES = 3 * 32 * 32
"""Bytes of an image: red, green and blue plane, row by row."""

_FINE, _COARSE = 100, 20


def parse_binary(content: bytes, where: object) -> tuple[Array, Ints]:
    """Images (n, 3, 1024) and classes (n,) of a file of CIFAR-10's binary version.

    >>> images, classes = parse_binary(bytes([7]) + bytes(3072), "here")
    >>> images.shape, classes
    ((1, 3, 1024), array([7]))
    """
    images, (classes,) = _records(content, [10], where)
    return images, classes


def parse_pickle(content: bytes, where: object) -> tuple[Array, Ints]:
    """Images (n, 3, 1024) and classes (n,) of a file of CIFAR-10's Python version."""
    images, (classes,) = _batch(content, {b"labels": 10}, where)
    return images, classes


def parse_binary_100(content: bytes, where: object) -> tuple[Array, Ints, Ints]:
    """Images (n, 3, 1024), fine and coarse classes of a file of CIFAR-100's binary version.

    >>> images, fine, coarse = parse_binary_100(bytes([7, 70]) + bytes(3072), "here")
    >>> images.shape, fine, coarse
    ((1, 3, 1024), array([70]), array([7]))
    """
    images, (coarse, fine) = _records(content, [_COARSE, _FINE], where)
    return images, fine, coarse


def parse_pickle_100(content: bytes, where: object) -> tuple[Array, Ints, Ints]:
    """Images (n, 3, 1024), fine and coarse classes of a file of CIFAR-100's Python version."""
    names = {b"fine_labels": _FINE, b"coarse_labels": _COARSE}
    images, (fine, coarse) = _batch(content, names, where)
    return images, fine, coarse


def _records(content: bytes, classes: Sequence[int], where: object) -> tuple[Array, list[Ints]]:
    """Split records of a byte for each labelling and an image."""
    head = len(classes)
    if not content or len(content) % (head + PLANES):
        raise DataError(
            f"{where} holds {len(content):,} bytes, which are no records of {head + PLANES:,} (a "
            "class and an image); obtain it again"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, head + PLANES)
    labels = [_classes(records[:, k], most, where) for k, most in enumerate(classes)]
    return _images(records[:, head:], len(records), where), labels


def _batch(content: bytes, classes: dict[bytes, int], where: object) -> tuple[Array, list[Ints]]:
    """Take the image and the labellings, by name, out of a pickle."""
    batch = load_plain(content, where)
    if not isinstance(batch, dict) or not {b"data", *classes} <= set(batch):
        names = " and ".join(f"'{name.decode()}'" for name in (b"data", *classes))
        raise DataError(f"{where} has no {names}; obtain the published batches")
    labels = [_classes(np.asarray(batch[name]), most, where) for name, most in classes.items()]
    return _images(np.asarray(batch[b"data"]), len(labels[0]), where), labels


def _images(images: Array, count: int, where: object) -> Array:
    if images.dtype != np.uint8 or images.shape != (count, PLANES):
        raise DataError(
            f"{where} has images of {images.dtype} {images.shape} and {count} classes; wanted "
            f"bytes (n, {PLANES}) and n classes"
        )
    return images.reshape(-1, 3, PLANES // 3)


def _classes(labels: Array, classes: int, where: object) -> Ints:
    sound = labels.ndim == 1 and labels.dtype.kind in "ui"
    if not sound or not (labels < classes).all() or (labels < 0).any():
        raise DataError(
            f"{where} has classes of {labels.dtype} {labels.shape}; wanted n numbers 0 .. "
            f"{classes - 1}"
        )
    classified: Ints = labels.astype(np.int64)
    return classified

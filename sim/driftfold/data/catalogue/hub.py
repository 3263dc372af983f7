"""Sets of images from a hub, through the optional package ``datasets``."""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from driftfold.arrays import Array
from driftfold.data.catalogue.entry import Entry, Hub
from driftfold.errors import DataError

Load = Callable[[Hub], Mapping[str, Any]]
"""Returns the splits ``train`` and ``test``: each has a column of pictures and one of classes."""

_BATCH = 10_000  # images of a file of CIFAR-10


def from_hub(entry: Entry, load: Load | None = None) -> dict[str, bytes]:
    """Read a set from its hub and return the files of its first form, by name, not yet checked.

    A hub keeps pictures in a coding of its own, without loss; they are written back in the format
    in which the set was published, so that the same checksums hold however it came.

    Raises
    ------
    DataError
        The set is on no hub, ``datasets`` is not installed, or the hub does not answer.
    """
    if entry.hub is None:
        raise DataError(f"{entry.name} is on no hub that driftfold knows; {entry.advice}")
    splits = (load or _load)(entry.hub)
    pictures = {split: _pixels(splits[split][entry.hub.image]) for split in ("train", "test")}
    classes = {
        split: np.asarray(splits[split][entry.hub.label], dtype=np.uint8) for split in pictures
    }
    if entry.forms[0].name == "idx":
        return {
            "train-images-idx3-ubyte": idx_bytes(pictures["train"]),
            "train-labels-idx1-ubyte": idx_bytes(classes["train"]),
            "t10k-images-idx3-ubyte": idx_bytes(pictures["test"]),
            "t10k-labels-idx1-ubyte": idx_bytes(classes["test"]),
        }
    files = {"test_batch.bin": cifar_bytes(pictures["test"], classes["test"])}
    for batch in range(5):
        own = slice(batch * _BATCH, (batch + 1) * _BATCH)
        content = cifar_bytes(pictures["train"][own], classes["train"][own])
        files[f"data_batch_{batch + 1}.bin"] = content
    return files


def idx_bytes(values: Array) -> bytes:
    """Unsigned bytes in the idx format.

    >>> idx_bytes(np.array([7, 2], np.uint8)).hex(" ")
    '00 00 08 01 00 00 00 02 07 02'
    """
    head = struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
    return head + bytes(values.tobytes())


def cifar_bytes(pictures: Array, classes: Array) -> bytes:
    """Pictures (n, h, w, 3) in the binary format of CIFAR-10: class, then one plane a colour.

    >>> cifar_bytes(np.array([[[[1, 2, 3]]]], np.uint8), np.array([9], np.uint8)).hex(" ")
    '09 01 02 03'
    """
    planes = pictures.transpose(0, 3, 1, 2).reshape(len(pictures), -1)
    records = np.concatenate([classes[:, None], planes], axis=1, dtype=np.uint8, casting="unsafe")
    return bytes(records.tobytes())


def _pixels(column: Any) -> Array:
    return np.stack([np.asarray(picture, dtype=np.uint8) for picture in column])


def _load(hub: Hub) -> Mapping[str, Any]:
    try:
        import datasets
    except ImportError:
        raise DataError(
            "the package 'datasets' is needed to read from a hub; install it with "
            "pip install 'driftfold[hub]'"
        ) from None
    try:
        found: Mapping[str, Any] = datasets.load_dataset(hub.name, revision=hub.revision)
    except Exception as error:  # its errors have no common root
        raise DataError(
            f"{hub.name} could not be read from its hub ({type(error).__name__}: {error}); check "
            "the network"
        ) from None
    return found

"""Trained models kept in the folder of data sets, so that equal training is done once."""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.checkpoint.fingerprint import take_fingerprint
from driftfold.npz import read_npz, write_npz

FOLDER = "trained"


def kept(
    folder: Path, recipe: Any, data: Array, labels: Array, make: Callable[[], Floats]
) -> Floats:
    """Return what `make` makes, from a file of an earlier time if there is a sound one.

    The file is named by all that its bits depend on: the `recipe` (whose repr tells all of it), the
    data, and software and processor. Where the folder cannot be written nothing is kept.
    """
    name = _name(recipe, data, labels)
    path = folder / FOLDER / f"{name}.npz"
    try:
        with path.open("rb") as file:
            theta: Floats = read_npz(file)[0]["theta"]
            return theta
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass  # never trained here, or half a file
    theta = make()
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            write_npz(file, {"theta": theta})
        part.replace(path)
    except OSError:
        with suppress(OSError):  # there may be not even half of it
            part.unlink()
    return theta


def _name(recipe: Any, data: Array, labels: Array) -> str:
    facts = json.dumps(dict(take_fingerprint(packages=("torch",)).facts), sort_keys=True)
    digest = hashlib.blake2b(f"{recipe!r}\n{facts}\n".encode(), digest_size=16)
    for array in (data, labels):
        digest.update(f"{array.dtype} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()

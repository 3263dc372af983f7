"""A published embedding of the mammals, if the user has it."""

import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from driftfold.arrays import Floats
from driftfold.data.catalogue import read_set
from driftfold.errors import DataError


@dataclass(frozen=True)
class BallPoints:
    """Named points of the Poincare ball.

    Attributes
    ----------
    names
        What the points stand for, in the order of the file.
    points
        Shape (n, d), inside the unit ball.
    """

    names: tuple[str, ...]
    points: Floats


def read_mammal_points(folder: str | Path | None = None) -> BallPoints:
    """Read ``hsp_mammals.npz``, the points on which RFedAGS was published.

    Raises
    ------
    DataError
        The file is missing or damaged, or its points are not inside the unit ball.

    Examples
    --------
    >>> read_mammal_points("nowhere")
    Traceback (most recent call last):
    driftfold.errors.DataError: mammal_points is not in nowhere: no hsp_mammals.npz there; write ...
    """
    found = read_set("mammal_points", folder)
    (name, content), *_ = found.files.items()
    return parse_points(content, found.places[name])


def parse_points(content: bytes, where: object) -> BallPoints:
    """Return the arrays ``names`` and ``poincare_points`` of an .npz file."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            names = tuple(map(str, archive["names"]))
            points = archive["poincare_points"].astype(np.float64)
    except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(
            f"{where} is no sound .npz file with names and poincare_points ({error})"
        ) from None
    if points.ndim != 2 or len(points) != len(names) or len(set(names)) != len(names):
        raise DataError(
            f"{where} has {len(set(names))} different names and points of shape {points.shape}; "
            "wanted one point for each name"
        )
    if not (np.linalg.norm(points, axis=1) < 1).all():
        raise DataError(f"{where} has points outside the unit ball, or that are not finite")
    return BallPoints(names, points)

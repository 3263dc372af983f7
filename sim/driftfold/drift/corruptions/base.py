"""Corruptions: pictures as noise, blur, weather or a coder would spoil them.

Hendrycks, D., Dietterich, T.: "Benchmarking neural network robustness to common corruptions and
perturbations", ICLR 2019: kinds of corruption in five severities. The constants here are those of
CIFAR-10-C, the set made of 32 x 32 pictures.
"""

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.errors import DataError, SpecError
from driftfold.registry import family, kind_of
from driftfold.rng import Seed, Stream

SEVERITIES = (1, 2, 3, 4, 5)
"""From hardly visible to hard; 0, a picture as it is, is none of them."""

SMALLEST = 8
"""Pixels a side has at least."""

_TILE = 64
"""Pictures that are corrupted at a time: what lies between picture and result stays small."""


@family("corruption")
class Corruption(ABC):
    """What spoils pictures, in five severities.

    Chance is addressed by (kind, severity, row), `row` the picture's number in its pool: a picture
    under a corruption is the same picture whenever and in whatever company it is asked for, as in
    CIFAR-10-C, which is one fixed set.

    Lengths are pixels and are not scaled with the pictures' size, unless a kind says otherwise; for
    pictures much smaller than 32 x 32 there is `Enlarged`.
    """

    @final
    def corrupt(
        self,
        x: Array,
        severity: int,
        rows: Ints,
        seed: Seed = Seed(0),  # noqa: B008
    ) -> Floats:
        """Return pictures x under this corruption, float64 of their shape in [0, 1].

        Parameters
        ----------
        x
            Floats in [0, 1] of shape (n, H, W, ch); H and W at least 8, ch 1 (grey) or 3 (RGB).
        severity
            1 to 5.
        rows
            Numbers of the pictures in their pool, shape (n,).
        seed
            Root of what is random; the same by default in every experiment.

        Raises
        ------
        SpecError
            The severity is none.
        DataError
            These are no such pictures, or as many rows.
        """
        check_severity(severity)
        numbers = np.asarray(rows)
        _check_pictures(x, numbers)
        made = np.empty(x.shape)
        for start in range(0, len(x), _TILE):
            some = slice(start, start + _TILE)
            planes = np.ascontiguousarray(x[some].transpose(0, 3, 1, 2), dtype=np.float64)
            spoilt = self.apply(planes, int(severity), numbers[some], seed)
            made[some] = np.clip(spoilt, 0.0, 1.0).transpose(0, 2, 3, 1)
        return made

    @abstractmethod
    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Corrupt `planes`, shape (n, ch, H, W), into a new array; the caller clips it to [0, 1].

        The bits of a picture must not depend on the others.
        """

    def stream(self, seed: Seed, severity: int) -> Stream:
        """Draws of this kind and severity: a row is their client, their visit is free to use."""
        return seed.stream(f"corruption {kind_of(self)} {severity}")


def check_severity(severity: int) -> None:
    """Raise `SpecError` unless the severity is a whole number from 1 to 5.

    >>> check_severity(0)
    Traceback (most recent call last):
    driftfold.errors.SpecError: severity is a whole number from 1 to 5, got 0; for a ...
    """
    whole = isinstance(severity, int | np.integer) and not isinstance(severity, bool)
    if not whole or severity not in SEVERITIES:
        raise SpecError(
            f"severity is a whole number from 1 to 5, got {severity!r}; for a picture that nothing "
            "spoils take the picture itself"
        )


def _check_pictures(x: Array, rows: Ints) -> None:
    shape = getattr(x, "shape", None)
    if not isinstance(x, np.ndarray) or x.ndim != 4 or x.shape[3] not in (1, 3):
        raise DataError(
            f"pictures are an array of shape (n, H, W, ch) with ch 1 (grey) or 3 (RGB), got "
            f"{type(x).__name__} of shape {shape}; reshape it"
        )
    if min(x.shape[1:3]) < SMALLEST:
        raise DataError(
            f"pictures have at least {SMALLEST} x {SMALLEST} pixels, got {x.shape[1]} x "
            f"{x.shape[2]}; enlarge them first"
        )
    if x.dtype.kind != "f":
        raise DataError(f"pictures are floats in [0, 1], got {x.dtype}; divide bytes by 255")
    if not ((x >= 0) & (x <= 1)).all():  # false for NaN, too
        raise DataError(
            "pictures have values in [0, 1], got one that is not; scale them, and leave "
            "standardising to the classifier"
        )
    if rows.shape != x.shape[:1] or rows.dtype.kind not in "iu":
        raise DataError(
            f"rows are one whole number for each of {len(x)} pictures, got {rows.dtype} of shape "
            f"{rows.shape}; give the pictures' numbers in their pool"
        )

"""Conformance of a corruption kind."""

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import SEVERITIES, Corruption
from driftfold.rng import Seed
from driftfold.testing.expect import expect


def check_corruption(corruption: Corruption, channels: int = 3, side: int = 16) -> None:
    """Raise `AssertionError` unless `corruption` keeps the contract of its family.

    Checked at every severity, on pictures that are not square: shapes, values in [0, 1], that the
    pictures given stay as they are, that something changes, and that each picture has the same bits
    in any order and in any company.

    Parameters
    ----------
    corruption
        What is checked.
    channels
        1 (grey) or 3 (RGB).
    side
        Pixels of the shorter side.

    >>> from driftfold.drift.corruptions import Contrast
    >>> check_corruption(Contrast())
    """
    rows = np.array([5, 0, 7, 2**31, 5])
    x = _pictures(rows, channels, side)
    before = x.copy()
    for severity in SEVERITIES:
        made = corruption.corrupt(x, severity, rows)
        where = f"at severity {severity}"
        expect(np.array_equal(x, before), f"the pictures given were changed {where}")
        expect(
            made.shape == x.shape and made.dtype == np.float64,
            f"returned {made.dtype} {made.shape} {where}; wanted float64 {x.shape}",
        )
        expect(bool(((made >= 0) & (made <= 1)).all()), f"returned values outside [0, 1] {where}")
        expect(not np.array_equal(made, x), f"nothing changed {where}")
        expect(
            np.array_equal(made[0], made[4]),
            f"one picture under one number came out as two {where}; draw by row only",
        )
        for some in ([1], [3, 2], [4, 2, 1, 0]):
            alone = corruption.corrupt(x[some], severity, rows[some])
            expect(
                np.array_equal(alone, made[some]),
                f"pictures changed with their order or company {where}; draw by row only, and keep "
                "each picture's arithmetic its own",
            )
        nobody = corruption.corrupt(x[:0], severity, rows[:0])
        expect(nobody.shape == x[:0].shape, f"no pictures became {nobody.shape} {where}")


def _pictures(rows: Ints, channels: int, side: int) -> Floats:
    """Smooth pictures with an edge, a dark corner and a bright one: equal rows, equal pictures."""
    down, right = np.mgrid[0 : 1 : side * 1j, 0 : 1 : (side + 3) * 1j]
    noise = Seed(0).stream("pictures").uniform(rows, 0, 3 * channels)
    a, b, c = noise.reshape(len(rows), channels, 3, 1, 1).transpose(2, 0, 3, 4, 1)
    waves = 0.5 + 0.5 * np.sin(2 * a + 4 * b * down[..., None] + 9 * c * right[..., None])
    inside = (np.abs(down - 0.5) < 0.3) & (np.abs(right - 0.4) < 0.2)
    pictures: Floats = np.where(inside[..., None], 1 - waves, waves * down[..., None])
    return pictures

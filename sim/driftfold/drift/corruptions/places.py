"""Pictures read at places of each picture's own."""

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.borders import Border


def pick(planes: Floats, down: Ints, right: Ints, border: Border) -> Floats:
    """Read planes, shape (n, ch, H, W), at whole places, into shape (n, ch, h, w).

    `down` counts rows and `right` columns from the first, in shapes that broadcast to (n, h, w);
    places beyond are the border's.

    >>> from driftfold.drift.corruptions.borders import edge
    >>> planes = np.arange(4.0).reshape(1, 1, 2, 2)
    >>> pick(planes, np.array([[[0, 1, 9]]]), np.array([[[1, 0, 9]]]), edge).tolist()
    [[[[1.0, 2.0, 3.0]]]]
    """
    n, channels, height, width = planes.shape
    flat = border(down, height) * width + border(right, width)
    picked = np.take_along_axis(planes.reshape(n, channels, -1), flat.reshape(n, 1, -1), axis=2)
    return picked.reshape(n, channels, *flat.shape[1:])


def interpolate(planes: Floats, down: Floats, right: Floats, border: Border) -> Floats:
    """As `pick` at places between pixels, bilinearly.

    >>> from driftfold.drift.corruptions.borders import edge
    >>> planes = np.arange(4.0).reshape(1, 1, 2, 2)
    >>> interpolate(planes, np.array([[[0.5]]]), np.array([[[0.25]]]), edge).tolist()
    [[[[1.25]]]]
    """
    top, left = np.floor(down), np.floor(right)
    y, x = (down - top)[:, None], (right - left)[:, None]
    row, column = top.astype(np.int64), left.astype(np.int64)
    upper = (1 - x) * pick(planes, row, column, border) + x * pick(planes, row, column + 1, border)
    row = row + 1
    lower = (1 - x) * pick(planes, row, column, border) + x * pick(planes, row, column + 1, border)
    between: Floats = (1 - y) * upper + y * lower
    return between

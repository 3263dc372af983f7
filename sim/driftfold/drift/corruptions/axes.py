"""Linear maps of one axis of pictures, as matrices: Gaussian blur, zoom, coarser and finer pixels.

A blur or a zoom that takes rows and columns apart is R X C^T with two small matrices. Each plane is
a product of its own, so that its bits do not depend on the others.
"""

import math
from functools import cache

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift.corruptions.borders import Border, edge


def apply(planes: Floats, rows: Floats, columns: Floats) -> Floats:
    """Map planes X of shape (..., H, W) to R X C^T, R of shape (h, H) and C of shape (w, W)."""
    mapped: Floats = np.matmul(np.matmul(rows, planes), columns.T)
    return mapped


def blur(planes: Floats, deviation: float) -> Floats:
    """Blur by a Gaussian of `deviation` pixels, cut off at four of them, edges repeated."""
    h, w = planes.shape[-2:]
    return apply(planes, gaussian(h, deviation), gaussian(w, deviation))


@cache
def gaussian(size: int, deviation: float, cut: float = 4.0, border: Border = edge) -> Floats:
    """Matrix of a Gaussian blur, shape (size, size); its rows sum to 1.

    >>> gaussian(3, 0.5, cut=2.0).round(2).tolist()
    [[0.89, 0.11, 0.0], [0.11, 0.79, 0.11], [0.0, 0.11, 0.89]]
    """
    radius = int(cut * deviation + 0.5)
    if radius == 0:
        return _kept(np.eye(size))
    steps = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (steps / deviation) ** 2)
    matrix = np.zeros((size, size))
    places = np.arange(size)[:, None]
    np.add.at(matrix, (places, border(places + steps, size)), weights / weights.sum())
    return _kept(matrix)


@cache
def zoom(size: int, factor: float) -> Floats:
    """Matrix that shows the middle 1 / factor of an axis over all of it, by linear interpolation.

    >>> zoom(4, 2.0).round(2).tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.67, 0.33, 0.0], [0.0, 0.33, 0.67, 0.0], [0.0, 0.0, 1.0, 0.0]]
    """
    cropped = math.ceil(size / factor)
    grown = round(cropped * factor)
    start, trimmed = (size - cropped) // 2, (grown - size) // 2
    step = (cropped - 1) / max(1, grown - 1)  # the first and last pixels keep their places
    places = start + step * np.arange(trimmed, trimmed + size, dtype=np.float64)
    return _linear(places, size)


@cache
def finer(size: int, factor: int) -> Floats:
    """Matrix that interpolates `factor` pixels in place of each, shape (factor size, size).

    >>> finer(2, 2).tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    """
    places: Floats = (np.arange(factor * size) + 0.5) / factor - 0.5
    return _linear(places, size)


@cache
def coarser(size: int, factor: int) -> Floats:
    """Matrix that takes the mean of `factor` pixels each, shape (size, factor size).

    >>> coarser(2, 2).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """
    return _kept(np.kron(np.eye(size), np.full(factor, 1 / factor)))


@cache
def boxed(size: int, count: int) -> Floats:
    """Matrix of shape (count, size) by which Pillow resizes with its filter BOX.

    A pixel is the mean of those whose middle lies in its span; a finer one is the nearest.

    >>> boxed(5, 2).round(2).tolist()
    [[0.33, 0.33, 0.33, 0.0, 0.0], [0.0, 0.0, 0.0, 0.5, 0.5]]
    """
    scale = size / count
    middles = (np.arange(count) + 0.5) * scale
    away = (np.arange(size) + 0.5 - middles[:, None]) / max(scale, 1.0)
    inside = (away > -0.5) & (away <= 0.5)
    return _kept(inside / inside.sum(axis=1, keepdims=True))


def _linear(places: Floats, size: int) -> Floats:
    """Matrix that reads an axis at `places`, between pixels linearly, at most at its ends."""
    places = np.clip(places, 0, size - 1)
    below = np.minimum(places.astype(np.int64), size - 2)
    share = places - below
    matrix = np.zeros((len(places), size))
    each = np.arange(len(places))
    matrix[each, below] = 1 - share
    matrix[each, below + 1] = share
    return _kept(matrix)


def _kept(matrix: Floats) -> Floats:
    matrix.flags.writeable = False  # it is handed out again
    return matrix

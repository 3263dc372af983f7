"""Motion: pixels drawn out to one side along a line."""

import math

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift.corruptions.borders import edge
from driftfold.drift.corruptions.places import pick
from driftfold.lanes import in_whole_vectors


def streaked(planes: Floats, radius: int, deviation: float, angles: Floats) -> Floats:
    """Return means along a line from each pixel, as ImageMagick's MotionBlur takes them.

    The line goes from the pixel itself over 2 radius + 1 whole places to one side; the i-th
    weighs exp(-i^2 / (2 deviation^2)). Beyond the edge lies the outermost pixel.

    Parameters
    ----------
    planes
        Shape (n, ch, H, W).
    angles
        Direction for each picture in degrees, 0 to the right, 90 down; shape (n,).

    >>> planes = np.arange(5.0).reshape(1, 1, 1, 5)
    >>> streaked(planes, radius=1, deviation=100.0, angles=np.array([0.0])).round(2).tolist()
    [[[[1.0, 2.0, 3.0, 3.67, 4.0]]]]
    """
    weights = kernel(radius, deviation)
    height, width = planes.shape[2:]
    turns = np.deg2rad(angles)[:, None, None]
    right, down = in_whole_vectors(np.cos, turns), in_whole_vectors(np.sin, turns)
    rows, columns = np.arange(height)[:, None], np.arange(width)
    drawn = np.zeros_like(planes)
    for step, weight in enumerate(weights.tolist()):
        y = rows + np.ceil(step * down - 0.5).astype(np.int64)
        x = columns + np.ceil(step * right - 0.5).astype(np.int64)
        drawn += weight * pick(planes, y, x, edge)
    return drawn


def kernel(radius: int, deviation: float) -> Floats:
    """Weights along the line, shape (2 radius + 1,), of sum 1.

    >>> kernel(2, 1.0).round(3).tolist()
    [0.57, 0.346, 0.077, 0.006, 0.0]
    """
    steps = np.arange(2 * radius + 1)
    weights = np.array([math.exp(-0.5 * (step / deviation) ** 2) for step in steps.tolist()])
    summed: Floats = weights / weights.sum()
    return summed

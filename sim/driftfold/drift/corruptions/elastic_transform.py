"""Elastic transform: a picture on rubber."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.axes import apply, gaussian
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.borders import mirror, reflect
from driftfold.drift.corruptions.places import interpolate
from driftfold.registry import register
from driftfold.rng import Seed

STRETCHES = (
    (0.0, 0.0, 0.08),
    (0.05, 0.2, 0.07),
    (0.08, 0.06, 0.06),
    (0.1, 0.04, 0.05),
    (0.1, 0.03, 0.03),
)
"""Amount and deviation of the distortion, and of the corners' moves, as parts of a side, by
severity."""


@register("elastic_transform")
@dataclass(frozen=True)
class ElasticTransform(Corruption):
    """An affine map that moves three points by chance, then displacements of a blurred noise.

    Its lengths are parts of a picture's shorter side, so it is the same at any size. Severity 1 is
    the affine map alone, which weakens as the displacements grow finer: neither the change of
    pixels nor the harm to a classifier need grow with severity.

    >>> stripes = np.tile(np.arange(32) % 8 / 8, (1, 32, 1))[..., None]
    >>> bent = ElasticTransform().corrupt(stripes, severity=3, rows=np.array([0]))
    >>> bool(np.abs(bent[0, 0] - bent[0, 31]).max() > 0.3)
    True
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Map and displace."""
        stream = self.stream(seed, severity)
        height, width = planes.shape[2:]
        side = min(height, width)
        amount, deviation, moved = (side * part for part in STRETCHES[severity - 1])
        moves = moved * (2 * stream.uniform(rows, 0, 6) - 1)
        mapped = interpolate(planes, *_sources(moves, height, width), mirror)
        if not amount:
            return mapped
        noise = 2 * stream.uniform(rows, 1, 2 * height * width) - 1
        blurs = (gaussian(size, deviation, 3.0, reflect) for size in (height, width))
        shifts = amount * apply(noise.reshape(-1, 2, height, width), *blurs)
        down, right = np.arange(height)[:, None] + shifts[:, 0], np.arange(width) + shifts[:, 1]
        return interpolate(mapped, down, right, reflect)


def _sources(moves: Floats, height: int, width: int) -> tuple[Floats, Floats]:
    """Where each pixel comes from under the affine maps, rows and columns of shape (n, H, W).

    The maps carry three corners of a square about the middle to where `moves`, shape (n, 6), have
    put them.
    """
    reach = min(height, width) // 3
    middle = np.array([width // 2, height // 2])
    corners = middle + reach * np.array([[1, 1], [1, -1], [-1, -1]])
    ends = corners + moves.reshape(-1, 3, 2)
    across, along = ends[:, 0] - ends[:, 1], ends[:, 1] - ends[:, 2]  # images of (0, 2r), (2r, 0)
    x = np.arange(width) - ends[:, 1, :1, None]
    y = np.arange(height)[:, None] - ends[:, 1, 1:, None]
    a, b = along[:, 0, None, None], across[:, 0, None, None]
    c, d = along[:, 1, None, None], across[:, 1, None, None]
    whole = a * d - b * c
    right: Floats = corners[1, 0] + 2 * reach * (d * x - b * y) / whole
    down: Floats = corners[1, 1] + 2 * reach * (a * y - c * x) / whole
    return down, right

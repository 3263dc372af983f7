"""JPEG compression: a file that had to be small."""

from dataclasses import dataclass
from io import BytesIO

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.eight_bit import Bytes, from_bytes, to_bytes
from driftfold.registry import register
from driftfold.rng import Seed

QUALITIES = (80, 65, 58, 50, 40)
"""By severity."""


@register("jpeg_compression")
@dataclass(frozen=True)
class JpegCompression(Corruption):
    """Coded by Pillow as JPEG of quality 80 down to 40, and decoded.

    Its bits are those of the JPEG library that Pillow brings along.

    >>> ramp = np.tile(np.linspace(0.0, 1.0, 32), (1, 32, 1))[..., None]
    >>> coded = JpegCompression().corrupt(ramp, severity=5, rows=np.array([0]))
    >>> bool(0 < np.abs(coded - ramp).max() < 0.05)
    True
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Code and decode one picture after another."""
        pictures = to_bytes(planes.transpose(0, 2, 3, 1))
        made = np.empty_like(pictures)
        for out, picture in zip(made, pictures, strict=True):
            out[:] = _coded(picture, QUALITIES[severity - 1])
        return from_bytes(made).transpose(0, 3, 1, 2)


def _coded(picture: Bytes, quality: int) -> Bytes:
    from PIL import Image  # takes a while to import

    file = BytesIO()
    grey = picture.shape[2] == 1
    Image.fromarray(picture[:, :, 0] if grey else picture).save(file, "JPEG", quality=quality)
    with Image.open(file) as coded:
        return np.asarray(coded).reshape(picture.shape)

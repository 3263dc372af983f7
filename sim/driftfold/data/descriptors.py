"""Symmetric positive definite matrices that describe small images."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.errors import DataError

Descriptor: TypeAlias = Literal["grey", "colour"]
"""Which nine numbers of each pixel a 9 x 9 covariance is made of.

``grey``
    x/h, y/h, I, |I_x|, |I_y|, |I_xx|, |I_yy|, sqrt(I_x^2 + I_y^2), atan2(|I_x|, |I_y|) of the
    grey image I in [0, 1], blurred by a Gaussian of 0.2 pixels; derivatives by Sobel masks of
    3 x 3 (over 4) and 5 x 5 (over 32); two pixels at each edge left out; covariance over n; ridge
    1e-6.
``colour``
    x, y in [0, 1], R, G, B, and |I_x|, |I_y|, |I_xx|, |I_yy| of the grey image by central
    differences (after Tuzel, Porikli, Meer, "Region covariance", 2006); covariance over n - 1;
    ridge 1e-5.
"""

RIDGE: Mapping[Descriptor, float] = {"grey": 1e-6, "colour": 1e-5}
"""Multiple of the identity that each recipe adds: some tiles are singular without."""

_GREY = np.array([0.299, 0.587, 0.114])
_CHUNK = 512  # tiles at a time: their features stay below 40 MB


def tiles_of(image: Array, size: int, stride: int) -> Array:
    """Cut squares of an image (h, w, 3), shape (n, size, size, 3), in row-major order.

    >>> tiles_of(np.zeros((9, 7, 3), np.uint8), size=3, stride=2).shape
    (12, 3, 3, 3)
    """
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size), axis=(0, 1))
    cut = windows[::stride, ::stride].transpose(0, 1, 3, 4, 2)
    return cut.reshape(-1, size, size, image.shape[-1])


def covariances(tiles: Array, descriptor: Descriptor) -> Floats:
    """Covariance matrices of the pixels' features, shape (n, 9, 9), the ridge not yet added.

    Parameters
    ----------
    tiles
        RGB images of bytes, shape (n, h, w, 3), at least 6 x 6.
    descriptor
        The recipe.

    Examples
    --------
    >>> tiles = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    >>> [covariances(tiles, name).shape for name in ("grey", "colour")]
    [(2, 9, 9), (2, 9, 9)]
    """
    if tiles.ndim != 4 or tiles.shape[-1] != 3 or min(tiles.shape[1:3]) < 6:
        raise DataError(
            f"descriptors need RGB tiles of 6 x 6 pixels or more, got shape {tiles.shape}; use "
            "larger tiles"
        )
    features, lost = _RECIPES[descriptor]
    made = np.empty((len(tiles), 9, 9))
    for start in range(0, len(tiles), _CHUNK):
        some = slice(start, start + _CHUNK)
        pixels = features(tiles[some] / 255.0)
        pixels = pixels.reshape(len(pixels), -1, 9)
        pixels -= pixels.mean(axis=1, keepdims=True)
        made[some] = pixels.swapaxes(-1, -2) @ pixels / (pixels.shape[1] - lost)
    return made


def _grey_features(images: Floats) -> Floats:
    h, w = images.shape[1:3]
    grey = _filtered(images @ _GREY, _BLUR, _BLUR)
    ix = _filtered(grey, _SMOOTH3, _FIRST3) / 4
    iy = _filtered(grey, _FIRST3, _SMOOTH3) / 4
    ixx = _filtered(grey, _SMOOTH5, _SECOND5) / 32
    iyy = _filtered(grey, _SECOND5, _SMOOTH5) / 32
    ax, ay = np.abs(ix), np.abs(iy)
    parts = [grey, ax, ay, np.abs(ixx), np.abs(iyy), np.hypot(ix, iy), np.arctan2(ax, ay)]
    y, x = np.mgrid[:h, :w] / float(h)
    places = [np.broadcast_to(place, grey.shape) for place in (x, y)]
    return np.stack([*places, *parts], axis=-1)[:, 2:-2, 2:-2]


def _colour_features(images: Floats) -> Floats:
    h, w = images.shape[1:3]
    grey = images @ _GREY
    iy, ix = np.gradient(grey, axis=(1, 2))
    iyy, ixx = np.gradient(iy, axis=1), np.gradient(ix, axis=2)
    y, x = np.meshgrid(np.linspace(0, 1, h), np.linspace(0, 1, w), indexing="ij")
    places = np.broadcast_to(np.stack([x, y], axis=-1), (*grey.shape, 2))
    slopes = np.abs(np.stack([ix, iy, ixx, iyy], axis=-1))
    return np.concatenate([places, images, slopes], axis=-1)


def _filtered(images: Floats, down: Floats, across: Floats) -> Floats:
    """Correlate with the outer product of two masks; the image is reflected at its edges."""
    for axis, mask in ((1, down), (2, across)):
        reach = len(mask) // 2
        width = [(0, 0), (0, 0), (0, 0)]
        width[axis] = (reach, reach)
        wide = np.pad(images, width, mode="reflect")
        windows = np.lib.stride_tricks.sliding_window_view(wide, len(mask), axis=axis)
        images = windows @ mask
    return images


_SMOOTH3, _FIRST3 = np.array([1.0, 2.0, 1.0]), np.array([-1.0, 0.0, 1.0])
_SMOOTH5, _SECOND5 = np.array([1.0, 4.0, 6.0, 4.0, 1.0]), np.array([1.0, 0.0, -2.0, 0.0, 1.0])
_TAIL = np.exp(-1 / (2 * 0.2**2))
_BLUR = np.array([_TAIL, 1.0, _TAIL]) / (1 + 2 * _TAIL)

_RECIPES: Mapping[Descriptor, tuple[Callable[[Floats], Floats], int]] = {
    "grey": (_grey_features, 0),
    "colour": (_colour_features, 1),
}

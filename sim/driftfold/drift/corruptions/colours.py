"""Colours of pictures in hue, saturation and value; a grey picture has its value alone."""

import numpy as np

from driftfold.arrays import Floats

_LUMA = (0.299, 0.587, 0.114)


def grey(planes: Floats) -> Floats:
    """Brightness as the eye sees it (Rec. 601), shape (n, 1, H, W)."""
    if planes.shape[1] == 1:
        return planes
    red, green, blue = (planes[:, i : i + 1] for i in range(3))
    seen: Floats = _LUMA[0] * red + _LUMA[1] * green + _LUMA[2] * blue
    return seen


def with_value(planes: Floats, value: Floats) -> Floats:
    """Same hue and saturation at another value, shape (n, 1, H, W): all channels scale alike.

    Black, which has no hue, becomes grey.

    >>> red = np.array([0.5, 0.25, 0.25]).reshape(1, 3, 1, 1)
    >>> with_value(red, np.full((1, 1, 1, 1), 0.8)).ravel().tolist()
    [0.8, 0.4, 0.4]
    """
    before = planes.max(axis=1, keepdims=True)
    black = before == 0
    return np.where(black, value, planes / np.where(black, 1.0, before) * value)


def saturation(planes: Floats) -> Floats:
    """(largest - smallest channel) / largest, 0 for black; shape (n, 1, H, W)."""
    value = planes.max(axis=1, keepdims=True)
    spread = value - planes.min(axis=1, keepdims=True)
    part: Floats = spread / np.where(value == 0, 1.0, value)
    return part


def with_saturation(planes: Floats, wanted: Floats) -> Floats:
    """Same hue and value at another saturation in [0, 1], shape (n, 1, H, W).

    A grey has hue 0 by convention: saturated, it becomes red.

    >>> red = np.array([0.5, 0.25, 0.25]).reshape(1, 3, 1, 1)
    >>> with_saturation(red, np.ones((1, 1, 1, 1))).ravel().tolist()
    [0.5, 0.0, 0.0]
    """
    value = planes.max(axis=1, keepdims=True)
    before = saturation(planes)
    plain = before == 0
    away = (value - planes) / np.where(plain, 1.0, before)
    reddish = np.broadcast_to(value, planes.shape).copy()
    reddish[:, 0] = 0.0
    coloured: Floats = value - wanted * np.where(plain, reddish, away)
    return coloured

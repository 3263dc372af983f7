"""Scaling of grey or colour images into rows of features."""

from typing import Literal, TypeAlias

import numpy as np

from driftfold.arrays import Array, Floats

Pixels: TypeAlias = Literal["unit", "centred", "standardised"]
"""How bytes become features, all in float64.

``unit``
    value / 255, in [0, 1].
``centred``
    ``unit`` less the mean image of the data set, so that principal components are those of the
    covariance.
``standardised``
    ``unit`` less the mean over all pixels of the data set, divided by their standard deviation.
"""


ColourPixels: TypeAlias = Literal["unit", "centred", "standardised", "channels"]
"""As `Pixels`, and also:

``channels``
    ``unit`` less each channel's mean over CIFAR-10's training set (.4914, .4822, .4465), divided
    by (.2023, .1994, .2010), as the RFedAGS experiments and many others do.
"""

CHANNEL_MEAN = (0.4914, 0.4822, 0.4465)
CHANNEL_DEVIATION = (0.2023, 0.1994, 0.2010)


def features(images: Array, pixels: Pixels, top: int = 255) -> Floats:
    """Turn images of bytes, shape (n, ...), into rows of features, shape (n, d).

    White is `top`, in place of 255 in the definitions of `Pixels`.

    >>> features(np.array([[[0, 255]], [[255, 255]]], np.uint8), "unit")
    array([[0., 1.],
           [1., 1.]])
    >>> features(np.array([[[0, 255]], [[255, 255]]], np.uint8), "centred")
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """
    rows: Floats = images.reshape(len(images), -1).astype(np.float64) / top
    if pixels == "centred":
        rows -= rows.mean(axis=0)
    if pixels == "standardised":
        rows -= rows.mean()
        rows /= rows.std() or 1.0
    return rows


def colour_features(planes: Array, pixels: ColourPixels) -> Floats:
    """Turn RGB images of bytes, shape (n, 3, ...), into rows of features, one plane after another.

    >>> colour_features(np.full((1, 3, 1), 255, np.uint8), "channels").round(4)
    array([[2.5141, 2.5968, 2.7537]])
    """
    if pixels != "channels":
        return features(planes, pixels)
    rows = features(planes, "unit")
    channels = rows.reshape(len(rows), 3, -1)
    channels -= np.array(CHANNEL_MEAN)[:, None]
    channels /= np.array(CHANNEL_DEVIATION)[:, None]
    return rows

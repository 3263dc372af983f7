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


def features(images: Array, pixels: Pixels) -> Floats:
    """Turn images of bytes, shape (n, ...), into rows of features, shape (n, d).

    >>> features(np.array([[[0, 255]], [[255, 255]]], np.uint8), "unit")
    array([[0., 1.],
           [1., 1.]])
    >>> features(np.array([[[0, 255]], [[255, 255]]], np.uint8), "centred")
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """
    rows: Floats = images.reshape(len(images), -1).astype(np.float64) / 255
    if pixels == "centred":
        rows -= rows.mean(axis=0)
    if pixels == "standardised":
        rows -= rows.mean()
        rows /= rows.std() or 1.0
    return rows

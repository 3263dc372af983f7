"""Pictures as rows of numbers.

The row of a grey picture holds its lines, one after another. That of a colour picture holds a whole
plane for each channel, one after another: ``x.reshape(n, ch, H, W)`` is what convolutions take.
"""

import numpy as np

from driftfold.arrays import Array
from driftfold.errors import DataError


def pictures_of(x: Array, shape: tuple[int, ...] | None) -> Array:
    """Give rows (..., d) the shape of pictures, (..., H, W) or (..., H, W, ch), without a copy.

    Parameters
    ----------
    x
        Rows.
    shape
        (H, W) or (H, W, ch), as in `Dataset.shape`.

    Raises
    ------
    DataError
        There is no shape, or rows are not as long as it asks for.

    Examples
    --------
    >>> rows = np.arange(12).reshape(1, 12)
    >>> pictures_of(rows, (3, 4))[0, 1].tolist()
    [4, 5, 6, 7]
    >>> pictures_of(rows, (2, 2, 3))[0, 0].tolist()
    [[0, 4, 8], [1, 5, 9]]
    """
    if shape is None:
        raise DataError(
            "these samples are no pictures; use a set of images, such as 'digits' or "
            "'fashion_mnist_cut'"
        )
    if len(shape) not in (2, 3) or x.shape[-1] != np.prod(shape):
        raise DataError(
            f"rows of {x.shape[-1]} numbers are no pictures of shape {shape}; wanted a shape "
            "(H, W) or (H, W, ch) of as many numbers"
        )
    if len(shape) == 2:
        return x.reshape(*x.shape[:-1], *shape)
    height, width, channels = shape
    return np.moveaxis(x.reshape(*x.shape[:-1], channels, height, width), -3, -1)


def picture_rows(pictures: Array, shape: tuple[int, ...]) -> Array:
    """Lay pictures, (..., H, W) or (..., H, W, ch), in rows (..., d): undoes `pictures_of`.

    Raises `DataError` when the pictures have another shape.

    >>> picture_rows(pictures_of(np.arange(12), (2, 2, 3)), (2, 2, 3)).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    lead = pictures.shape[: pictures.ndim - len(shape)]
    if pictures.shape[len(lead) :] != shape:
        raise DataError(f"pictures have shape {pictures.shape}; wanted (..., {str(shape)[1:]}")
    planes = np.moveaxis(pictures, -1, -3) if len(shape) == 3 else pictures
    return planes.reshape(*lead, -1)

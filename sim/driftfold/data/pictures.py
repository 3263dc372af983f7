"""Pictures coded as PNG or JPEG."""

from io import BytesIO

import numpy as np

from driftfold.arrays import Array
from driftfold.errors import DataError


def decode(coded: bytes, where: object) -> Array:
    """Return an RGB picture as bytes of shape (h, w, 3); raises `DataError` when it is damaged."""
    from PIL import Image  # takes a while to import

    try:
        with Image.open(BytesIO(coded), formats=("PNG", "JPEG")) as picture:
            return np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"{where} is no sound picture ({error}); obtain it again") from None

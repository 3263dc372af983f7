"""Where the numbers of an array are."""

from ctypes import addressof, c_char
from typing import Any

import numpy.typing as npt


def address(array: npt.NDArray[Any]) -> int:
    """Address of the first number of an array, which has to outlive its use.

    That is `array.ctypes.data`, in half of the time where the array may be written to: a round
    asks for ten.

    >>> import numpy as np
    >>> numbers = np.arange(3.0)
    >>> address(numbers) == address(numbers[::2]) == numbers.ctypes.data
    True
    """
    numbers: Any = array  # as a buffer, which types know of from Python 3.12 on
    try:
        return addressof(c_char.from_buffer(numbers))
    except (TypeError, ValueError):  # it is read-only, has gaps, or is empty
        return array.ctypes.data

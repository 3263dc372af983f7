"""How large the numbers of data may be."""

import numpy as np

from driftfold.arrays import Array
from driftfold.errors import DataError

LARGEST = 1e75
"""Fourth powers of larger numbers overflow, and losses, gradients and their lengths have them."""


def check_magnitude(x: Array, source: str, **given: float) -> None:
    """Raise `DataError` unless all numbers are finite and none is above `LARGEST` in size.

    Parameters
    ----------
    x
        Numbers, of any shape.
    source
        What they are, for the message.
    given
        Fields of a component that make numbers large, with their values.

    Examples
    --------
    >>> check_magnitude(np.array([1.0, -2.0]), "the data")
    >>> check_magnitude(np.array([np.inf]), "the targets", noise=1e308)
    Traceback (most recent call last):
    driftfold.errors.DataError: the targets hold numbers of size inf, wanted finite ones up to ...
    """
    if not x.size:
        return
    largest = float(np.maximum(float(x.max()), -float(x.min())))  # NaN where there is one
    if largest <= LARGEST:
        return
    fields = " and ".join(f"{name} = {value:g}" for name, value in given.items())
    raise DataError(
        f"{source} hold numbers of size {largest:.3g}, wanted finite ones up to {LARGEST:g}; "
        + (f"lower {fields}" if given else "scale the data or mend the source")
    )

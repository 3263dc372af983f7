"""Unpickling of arrays and plain values, and of nothing that could run code."""

import _codecs
import pickle
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from driftfold.errors import DataError

_RECONSTRUCT: Any = np.ndarray(0).__reduce__()[0]

_ALLOWED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): _codecs.encode,
    # NumPy moved it in version 2; old files have the old name.
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
}


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        allowed = _ALLOWED.get((module, name))
        if allowed is None:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return allowed


def load_plain(content: bytes, where: object) -> Any:
    """Unpickle arrays, numbers, texts, lists, tuples and dicts; texts of Python 2 become bytes.

    Raises
    ------
    DataError
        The pickle asks for anything else, which is then neither imported nor called, or is
        damaged.

    Examples
    --------
    >>> load_plain(pickle.dumps({"labels": [1, 2]}), "here")
    {'labels': [1, 2]}
    >>> load_plain(pickle.dumps(print), "here")
    Traceback (most recent call last):
    driftfold.errors.DataError: here is refused: it asks for builtins.print; a pickle of plain ...
    """
    try:
        return _Plain(BytesIO(content), encoding="bytes").load()
    except Exception as error:  # a damaged pickle can raise anything
        raise DataError(
            f"{where} is refused: {error}; a pickle of plain values and arrays was wanted, obtain "
            "the published one"
        ) from None

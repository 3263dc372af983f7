"""What a server does each round by the library of kernels: the bits of the NumPy form."""

from collections.abc import Callable
from ctypes import c_int, c_int64, c_void_p
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from driftfold.native.address import address
from driftfold.native.loading import Library, library

Floats = npt.NDArray[np.float64]


class Exact:
    """Sums and factors of contiguous float64 arrays.

    Parameters
    ----------
    library
        Where the code is.
    """

    def __init__(self, library: Library) -> None:
        self._sum = _typed(
            library.function("weighted_sum"), None, c_void_p, c_void_p, c_int64, c_int64, c_void_p
        )
        self._invert = _typed(
            library.function("inverse_cholesky"), c_int, c_void_p, c_int64, c_void_p
        )

    def weighted_sum(self, weights: Floats, vectors: Floats) -> Floats:
        """Sum of w_i v_i, weights (k,) and vectors (k, ...), added in order of the rows."""
        out = np.empty(vectors.shape[1:])
        count, where = len(vectors), address(vectors)
        self._sum(address(weights), where, count, out.size, address(out))
        return out

    def inverse_cholesky(self, gram: Floats) -> Floats | None:
        """L^-1 of gram = L L^T, shape (r, r), r <= 12; None where there is no such factor."""
        out = np.empty_like(gram)
        failed = self._invert(address(gram), gram.shape[-1], address(out))
        return None if failed else out


def _typed(function: Any, result: type | None, *arguments: type) -> Callable[..., Any]:
    function.restype, function.argtypes = result, arguments
    typed: Callable[..., Any] = function
    return typed


@cache
def exact() -> Exact | None:
    """Return this process's `Exact`, or None where there is no library."""
    found = library()
    return Exact(found) if isinstance(found, Library) else None

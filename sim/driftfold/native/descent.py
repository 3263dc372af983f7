"""K-step descent of many clients by a kernel, one client after the other."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from driftfold.arrays import Array, Bools, Ints
from driftfold.native.address import address
from driftfold.native.loading import Library

Send = Literal["stream", "endpoint"]


class _Descent(ctypes.Structure):
    """`Descent` of descent.h."""

    _fields_ = (
        ("clients", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("steps", ctypes.c_int64),
        ("samples", ctypes.c_int64),
        ("dimension", ctypes.c_int64),
        ("retraction", ctypes.c_int64),
        ("transport", ctypes.c_int64),
        ("start", ctypes.c_void_p),
        ("start_stride", ctypes.c_int64),
        ("alpha", ctypes.c_void_p),
        ("alpha_stride", ctypes.c_int64),
        ("data", ctypes.c_void_p),
        ("more", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("weights_stride", ctypes.c_int64),
        ("drawn", ctypes.c_int64),
        ("batch_rows", ctypes.c_void_p),
        ("batch_weights", ctypes.c_void_p),
        ("factor", ctypes.c_double),
        ("stream", ctypes.c_void_p),
        ("end", ctypes.c_void_p),
        ("refused", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class Kernel:
    """A kernel with the data of all clients at hand; all arrays have one dtype, contiguous.

    Attributes
    ----------
    stem
        Which one: "pca_gram", "pca_rows", "pca_dual", "spd_mean" or "lorentz_mean".
    size
        The constant it is compiled for: r, n or the dimension.
    samples
        Rows of a client's data, n_max.
    dimension
        Length of a row of data, or the size.
    data
        Clients' data, leading axis N: for "pca_gram" matrices c with gradient x c, for "spd_mean"
        factors (N, n_max, n, n), else rows (N, n_max, d).
    weights
        Of all rows, shape (N, n_max), for "pca_dual" one for each client; None with batches
        means ones. A row of weight 0 is never read. Clients with the same weights may share one
        row, with a stride of 0.
    factor
        On all weights. The gradient of "spd_mean" and "lorentz_mean" is minus the weighted sum
        of logarithms, of "pca_rows" the weighted sum of <x, z> z.
    more
        For "pca_dual" the clients' inner products A A^T, shape (N, n_max, n_max).
    retraction, transport
        Numbers of the maps, as the kernel's source names them.
    """

    stem: str
    size: int
    samples: int
    dimension: int
    data: Array
    weights: Array | None = None
    factor: float = 1.0
    more: Array | None = None
    retraction: int = 0
    transport: int = 0


class Descender:
    """K steps x_{k+1} = R(-alpha_k grad f_i(x_k)) of each client, by a kernel on its data.

    Parameters
    ----------
    library
        Where the kernel is.
    kernel
        Which, on what data.

    Raises
    ------
    ValueError
        The library has no such kernel.
    """

    def __init__(self, library: Library, kernel: Kernel) -> None:
        data, weights = kernel.data, kernel.weights
        function = library.kernel(kernel.stem, kernel.size, 8 * data.dtype.itemsize)
        if function is None:
            raise ValueError(
                f"there is no kernel {kernel.stem} of size {kernel.size} for {data.dtype}"
            )
        self._function = function
        self._kernel = kernel  # and with it the arrays whose addresses are below
        self._axes = 1 if kernel.stem == "lorentz_mean" else 2
        self._constant = _Descent(
            samples=kernel.samples,
            dimension=kernel.dimension,
            retraction=kernel.retraction,
            transport=kernel.transport,
            data=address(data),
            more=None if kernel.more is None else address(kernel.more),
            weights=None if weights is None else address(weights),
            weights_stride=0 if weights is None else weights.strides[0] // data.dtype.itemsize,
            factor=kernel.factor,
        )

    def run(
        self,
        clients: Ints,
        start: Array,
        alpha: Array,
        send: Send,
        batches: Sequence[tuple[Ints, Array]] = (),
    ) -> tuple[Array, Bools]:
        """Descend with the clients' data.

        Parameters
        ----------
        clients
            Ids, shape (C,), rows of the kernel's data.
        start
            Where all start, shape (*shape), or each, (C, *shape); on a sphere with one row, (1, d).
        alpha
            Step sizes, shape (K,) or (C, K).
        send
            "stream": sum_k alpha_k T(grad f_i(x_k)), carried to the start; "endpoint": x_K.
        batches
            Row numbers and weights, each (C, B), of each step's mini-batch; empty takes all rows.

        Returns
        -------
        tuple
            What is sent, shape (C, *shape), and which clients the kernel left to the plain form,
            (C,): steps so long, or data so ill-conditioned, that its short formulas would lose
            digits.
        """
        dtype, count = self._kernel.data.dtype, len(clients)
        shared = start.ndim == self._axes
        shape = start.shape if shared else start.shape[1:]
        clients = np.ascontiguousarray(clients, dtype=np.int64)
        start = np.ascontiguousarray(start, dtype=dtype)
        alpha = np.ascontiguousarray(alpha, dtype=dtype)
        out = np.empty((count, *shape), dtype=dtype)
        refused = np.zeros(count, dtype=np.bool_)
        task = _Descent.from_buffer_copy(self._constant)
        task.clients, task.count, task.steps = address(clients), count, alpha.shape[-1]
        task.start, task.alpha = address(start), address(alpha)
        task.start_stride = 0 if shared else start[0].size if count else 0
        task.alpha_stride = alpha.shape[-1] if alpha.ndim == 2 else 0
        task.refused = address(refused)
        setattr(task, "stream" if send == "stream" else "end", address(out))
        if batches:
            rows = [np.ascontiguousarray(r, dtype=np.int64) for r, _ in batches]
            weights = [np.ascontiguousarray(w, dtype=np.float64) for _, w in batches]
            row_list, weight_list = _addresses(rows), _addresses(weights)
            task.drawn = rows[0].shape[-1]
            task.batch_rows = ctypes.addressof(row_list)
            task.batch_weights = ctypes.addressof(weight_list)
        if self._function(ctypes.byref(task)):
            raise MemoryError(f"no memory for the scratch of kernel {self._kernel.stem}")
        return out, refused


def _addresses(arrays: Sequence[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(address(a) for a in arrays))

"""What a problem tells about its data, so that plain descent on it may run in a fused kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from driftfold.arrays import Array

Loss: TypeAlias = Literal["variance", "spd distance", "lorentz distance"]
"""-sum_j w_j |x z_j|^2 / 2 times a factor, or sum_j w_j dist(x, y_j)^2 / 2 times one."""


@dataclass(frozen=True)
class KernelData:
    """A loss of a form that kernels know, with the data of all clients; contiguous, of one dtype.

    Attributes
    ----------
    loss
        Which form.
    rows
        Samples: (N, n_max, d), or for matrices factors (N, n_max, n, n).
    whole
        Whether each step uses all samples of each client.
    weights
        Weight of each sample of `rows` (with mini-batches on top of the batch's own), shape
        (N, n_max), 0 on padding; None for ones. Equal rows may be one row, with a stride of 0.
    factor
        On all weights.
    matrices
        Makes the clients' factor * sum_j w_j z_j z_j^T, shape (N, d, d), where that is the better
        form; else None.
    products
        Makes the clients' inner products <z_j, z_k>, shape (N, n_max, n_max), and the one weight of
        each client's samples, shape (N,), where that is the better form; else None.
    """

    loss: Loss
    rows: Array
    whole: bool
    weights: Array | None = None
    factor: float = 1.0
    matrices: Callable[[], Array] | None = None
    products: Callable[[], tuple[Array, Array]] | None = None

"""Which engine does the local work of plain descent: one table, read from top to bottom.

The first row that fits a problem names its kernel; where none does, or there is no library of
kernels, the algorithm's own NumPy form runs. The choice depends on shapes alone, never on what ran
before, so that a resumed run chooses as the first did.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from driftfold.manifolds.base import Manifold
from driftfold.manifolds.lorentz import Lorentz
from driftfold.manifolds.spd import Spd
from driftfold.manifolds.sphere import Sphere
from driftfold.manifolds.stiefel import Stiefel
from driftfold.native import Kernel
from driftfold.tasks.base import Problem
from driftfold.tasks.batch_size import BatchSize
from driftfold.tasks.kernel_data import KernelData

Stem: TypeAlias = Literal["pca_gram", "pca_dual", "pca_rows", "spd_mean", "lorentz_mean"]


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes
    ----------
    kernel
        The kernel's name.
    loss, manifold, where
        For which problems, in words.
    fits
        The same as a function of the problem's data and manifold.
    reason
        Why, with what was measured on one core of an AMD EPYC with AVX2, float64 | float32.
    """

    kernel: Stem
    loss: str
    manifold: str
    where: str
    fits: Callable[[KernelData, Manifold], bool]
    reason: str


def _on_stiefel(manifold: Manifold) -> bool:
    """Whether the kernels of PCA know the manifold's maps."""
    if type(manifold) is Sphere:
        return True
    return (
        type(manifold) is Stiefel
        and manifold.r <= 8
        and manifold.retraction in ("qr", "polar")
        and manifold.metric == "euclidean"
        and manifold.transport_by == "projection"
    )


def _projected(manifold: Manifold) -> bool:
    return type(manifold) is Stiefel or (
        isinstance(manifold, Sphere)
        and manifold.transport_by == "projection"
        and manifold.retraction == "normalise"
    )


TABLE: tuple[Row, ...] = (
    Row(
        "pca_gram",
        "variance",
        "stiefel (qr, polar; projection), r <= 8; sphere",
        "all samples each step, d < 2 n, matrices of all clients below 0.5 GB",
        lambda data, m: data.matrices is not None and _on_stiefel(m),
        "one product with a d x d matrix a step: (100, 5), K = 5 in 16 | 9 us a client, from "
        "samples 36 | 23; the matrices are paid back in 2 rounds",
    ),
    Row(
        "pca_dual",
        "variance",
        "stiefel, r <= 8; sphere (normalise; projection)",
        "all samples each step, d >= 2 n, inner products of all clients below 0.5 GB",
        lambda data, m: data.products is not None and _on_stiefel(m) and _projected(m),
        "samples are read twice, not 2 K times: (3072, 4), n = 1000, K = 5 in 4.1 | 2.2 ms a "
        "client, from samples 10.8 | 5.0; the inner products are paid back in 45 rounds",
    ),
    Row(
        "pca_rows",
        "variance",
        "stiefel, r <= 8; sphere",
        "mini-batches, or matrices too large",
        lambda data, m: _on_stiefel(m),
        "each sample is used twice while in the cache; batches are lists of rows, never gathered",
    ),
    Row(
        "spd_mean",
        "spd distance",
        "spd (exp; parallel or path), n = 2 .. 16",
        "any batch",
        lambda data, m: type(m) is Spd and 2 <= m.n <= 16 and m.retraction == "exp",
        "Jacobi's rotations in lanes of samples: n = 8 in 0.9 | 0.4 us a logarithm; LAPACK needs "
        "about 6",
    ),
    Row(
        "lorentz_mean",
        "lorentz distance",
        "lorentz, dim = 2 .. 10",
        "any batch",
        lambda data, m: type(m) is Lorentz and 2 <= m.dim <= 10,
        "one asinh a logarithm, in lanes of samples: H^2 in 16 | 7 ns a logarithm",
    ),
)
"""What fits no row runs in the algorithm's own NumPy form, in tiles that stay in the cache."""


def choose(problem: Problem, size: BatchSize) -> Row | None:
    """Return the table's row for mini-batches of `size`, or None for the NumPy form."""
    data = problem.kernel_data(size)
    return None if data is None else _row(data, problem.manifold)


def kernel_for(data: KernelData, manifold: Manifold) -> Kernel | None:
    """Return the kernel that the table names, with its data, or None for the NumPy form."""
    row = _row(data, manifold)
    return None if row is None else _MAKERS[row.kernel](data, manifold)


def _row(data: KernelData, manifold: Manifold) -> Row | None:
    return next((row for row in TABLE if row.loss == data.loss and row.fits(data, manifold)), None)


def _pca_gram(data: KernelData, manifold: Manifold) -> Kernel:
    assert data.matrices is not None
    return _pca("pca_gram", data, manifold, matrices=data.matrices())


def _pca_dual(data: KernelData, manifold: Manifold) -> Kernel:
    assert data.products is not None
    products, weights = data.products()
    return _pca("pca_dual", data, manifold, weights=weights, more=products)


def _pca_rows(data: KernelData, manifold: Manifold) -> Kernel:
    return _pca("pca_rows", data, manifold, weights=data.weights)


def _pca(
    stem: Stem,
    data: KernelData,
    manifold: Manifold,
    *,
    matrices: object = None,
    weights: object = None,
    more: object = None,
) -> Kernel:
    retraction = {"qr": 0, "normalise": 0, "polar": 1, "exp": 2}[manifold.retraction]  # type: ignore[attr-defined]
    return Kernel(
        stem=stem,
        size=1 if isinstance(manifold, Sphere) else manifold.shape[0],
        samples=data.rows.shape[1],
        dimension=data.rows.shape[2],
        data=data.rows if matrices is None else matrices,
        weights=weights,
        factor=data.factor,
        more=more,
        retraction=retraction,
        transport=int(isinstance(manifold, Sphere) and manifold.transport_by == "parallel"),
    )


def _mean(stem: Stem, data: KernelData, manifold: Manifold, transport: int) -> Kernel:
    size = manifold.shape[0]
    return Kernel(
        stem=stem,
        size=size,
        samples=data.rows.shape[1],
        dimension=size,
        data=data.rows,
        weights=data.weights,
        factor=data.factor,
        transport=transport,
    )


def _spd_mean(data: KernelData, manifold: Manifold) -> Kernel:
    assert isinstance(manifold, Spd)
    return _mean("spd_mean", data, manifold, int(manifold.transport_by == "parallel"))


def _lorentz_mean(data: KernelData, manifold: Manifold) -> Kernel:
    assert isinstance(manifold, Lorentz)
    return _mean("lorentz_mean", data, manifold, int(manifold.transport_by == "projection"))


_MAKERS: dict[Stem, Callable[[KernelData, Manifold], Kernel]] = {
    "pca_gram": _pca_gram,
    "pca_dual": _pca_dual,
    "pca_rows": _pca_rows,
    "spd_mean": _spd_mean,
    "lorentz_mean": _lorentz_mean,
}

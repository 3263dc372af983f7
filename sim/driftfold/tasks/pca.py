"""Principal component analysis: the subspace that keeps most of the federation's variance."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Floats, Ints, empty_aligned
from driftfold.data.base import ClientData, Data, Partition
from driftfold.data.gaussian_blocks import GaussianBlocks
from driftfold.data.natural import Natural
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.manifolds.base import Manifold
from driftfold.manifolds.sphere import Sphere
from driftfold.manifolds.stiefel import Stiefel
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Batch, Task
from driftfold.tasks.batch_size import BatchSize
from driftfold.tasks.blocks import Parts, blocks_of
from driftfold.tasks.division import Clients, Weighting, divide
from driftfold.tasks.kernel_data import KernelData
from driftfold.tasks.orthonormal_rows import with_orthonormal_rows
from driftfold.tasks.sampled import SampledProblem, SeparableView

GRAM_BYTES = 2**29
"""Most memory that all clients' second-moment matrices, or inner products, may take together."""

_ROWS = 4096  # rows whose second moments are summed at a time


class PcaProblem(SampledProblem):
    """f_i(x) = -(1/n_i) sum_j |x z_ij|^2 over x with orthonormal rows, shape (r, d), or (d,).

    Euclidean gradient -2 x C_i, with C_i = (1/n_i) sum_j z_ij z_ij^T the client's second-moment
    matrix; F* is minus the sum of the r largest eigenvalues of sum_i a_i C_i.

    Parameters
    ----------
    data
        The clients' samples z_ij.
    fleet
        The clients; their importance a_i need not sum to 1 (see `reweighted`).
    manifold
        Points of shape (r, d), or (d,) for r = 1.

    Examples
    --------
    >>> problem = Pca(data=GaussianBlocks(clients=3, samples=5, dimension=4), rank=2).build(Seed(1))
    >>> x = problem.initial_point()
    >>> view = problem.view(np.arange(3), np.zeros(3, dtype=int))
    >>> view.gradient(np.stack([x] * 3), view.everything()).shape
    (3, 2, 4)
    >>> sorted(problem.evaluate(x, time=0.0))
    ['gap', 'loss']
    """

    def __init__(self, data: ClientData, fleet: Fleet, manifold: Manifold) -> None:
        super().__init__(data, fleet)
        self.manifold = manifold
        self.rank = 1 if len(manifold.shape) == 1 else manifold.shape[0]
        self.itemsize = int(data.x.itemsize)

    @property
    def client_bytes(self) -> int:
        """Data or second-moment matrix, point, gradient and two temporaries."""
        n, d = self.longest, self.dimension
        rows = d if self._uses_moments else n
        return self.itemsize * d * (rows + 4 * self.rank)

    def initial_point(self) -> Array:
        """Return a uniformly random point."""
        stream = self.fleet.seed.stream("initial point")
        point = self.manifold.random_point(stream, np.zeros(1, dtype=np.int64))[0]
        return point.astype(self.data.x.dtype)

    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> "PcaView":
        """Return the data of some clients."""
        return PcaView(self, clients, dispatches)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Objective F(x), and the optimality gap F(x) - F*."""
        rows = x.reshape(self.rank, -1)
        loss = -float(np.vdot(rows, rows @ self.second_moment))
        return {"loss": loss, "gap": loss - self.optimum()}

    def gradient(self, x: Array) -> Array:
        """Riemannian gradient of F at one point x."""
        return self.manifold.gradient(x, -2 * (x @ self.second_moment))

    def optimum(self) -> float:
        """Return F*, from the eigenvalues of the mean second-moment matrix."""
        return self._optimum

    def reweighted(self, weights: Floats) -> "PcaProblem":
        """Return the problem of the same clients with objective sum_i `weights`_i f_i.

        >>> problem = Pca(data=GaussianBlocks(3, 5, 4), rank=2).build(Seed(1))
        >>> x = problem.initial_point()
        >>> half = problem.reweighted(problem.fleet.importance / 2)
        >>> bool(np.isclose(2 * half.evaluate(x, 0)["loss"], problem.evaluate(x, 0)["loss"]))
        True
        """
        return PcaProblem(self.data, replace(self.fleet, importance=weights), self.manifold)

    @cached_property
    def second_moment(self) -> Floats:
        """Mean second-moment matrix sum_i a_i C_i, shape (d, d)."""
        d = self.dimension
        rows = self.data.x.reshape(-1, d)
        importance, n = self.fleet.importance, self.longest
        total = np.zeros((d, d))
        for start in range(0, len(rows), _ROWS):
            some = np.arange(start, min(start + _ROWS, len(rows)))
            weights = self.weights[some // n, some % n] * importance[some // n]
            part = rows[start : start + _ROWS]
            total += part.T @ (weights[:, None] * part)  # a product of doubles
        return (total + total.T) / 2

    @cached_property
    def moments(self) -> Array | None:
        """Each client's -2 C_i, shape (N, d, d), or None where samples are the better form.

        A product with C_i takes 2 r d^2 multiplications, two with n samples 2 r n d each.
        """
        if not self._uses_moments:
            return None
        shape = (self.fleet.size, self.dimension, self.dimension)
        made = empty_aligned(shape, self.data.x.dtype)
        for own, samples, out in zip(self.data.x, self.data.samples, made, strict=True):
            np.matmul(own.T, own, out=out)
            out *= -2 / max(int(samples), 1)  # the gradient's factor, once for all
        return made

    def kernel_data(self, size: BatchSize) -> KernelData:
        """Samples, with their second moments or inner products where these are the better form."""
        whole = self.sizes(size)[2]
        return KernelData(
            loss="variance",
            rows=self.data.x,
            whole=whole,
            weights=self._row_weights if whole else None,
            factor=-2.0,
            matrices=(lambda: self.moments) if whole and self._uses_moments else None,
            products=(lambda: self._products) if whole and self._uses_products else None,
        )

    @cached_property
    def _row_weights(self) -> Array:
        alike = self.weights.strides[0] == 0  # then one row, which all clients share
        rows = self.weights[:1] if alike else self.weights
        return np.broadcast_to(rows.astype(self.data.x.dtype), self.weights.shape)

    @cached_property
    def _products(self) -> tuple[Array, Array]:
        n = self.longest
        made = empty_aligned((self.fleet.size, n, n), self.data.x.dtype)
        for own, out in zip(self.data.x, made, strict=True):
            np.matmul(own, own.T, out=out)
        return made, (1 / np.maximum(self.data.samples, 1)).astype(made.dtype)

    @property
    def _uses_products(self) -> bool:
        n = self.longest
        return 2 * n <= self.dimension and self.itemsize * self.fleet.size * n * n <= GRAM_BYTES

    @property
    def _uses_moments(self) -> bool:
        d = self.dimension
        return d < 2 * self.longest and self.itemsize * self.fleet.size * d * d <= GRAM_BYTES

    @cached_property
    def _optimum(self) -> float:
        return -float(np.linalg.eigvalsh(self.second_moment)[-self.rank :].sum())


class PcaView(SeparableView):
    """The samples of some clients, or their second-moment matrices."""

    def __init__(self, problem: PcaProblem, clients: Ints, dispatches: Ints) -> None:
        super().__init__(problem, clients, dispatches)
        self._pca = problem
        self._own_moments: Parts | None = None
        self._flat = len(problem.manifold.shape) == 1

    def gradient(self, x: Array, batch: Batch) -> Array:
        """Projection of -2 x Z^T W Z, the batch's samples as rows of Z, their weights in W."""
        x = self._spread(x)
        rows = x[..., None, :] if self._flat else x
        out = np.empty(rows.shape, dtype=rows.dtype)
        moments = self._moment_blocks() if batch.whole else None
        if moments is not None:
            for part, moment in moments:
                np.matmul(rows[part], moment, out=out[part])
        else:
            weights = (batch.weights * -2.0).astype(rows.dtype, copy=False)
            for part, z in self._samples(batch):
                scores = np.matmul(rows[part], z.swapaxes(-1, -2))
                scores *= weights[part][..., None, :]
                np.matmul(scores, z, out=out[part])
        return self._pca.manifold.gradient(x, out[..., 0, :] if self._flat else out)

    def loss(self, x: Array, batch: Batch) -> Array:
        """-sum_j w_j |x z_j|^2."""
        x = self._spread(x)
        rows = x[..., None, :] if self._flat else x
        out = np.empty(self.clients.shape)
        for part, z in self._samples(batch):
            scores = np.matmul(rows[part], z.swapaxes(-1, -2))
            kept = np.matmul((scores * scores), batch.weights[part][..., :, None])
            out[part] = -kept[..., 0].sum(axis=-1)
        return out

    def sample_losses(self, x: Array, batch: Batch) -> Array:
        """-|x_j z_j|^2 for each row z_j, with x_j of shape (..., B or 1, *shape)."""
        points = x[..., None, :] if self._flat else x
        out = np.empty(batch.weights.shape, dtype=x.dtype)
        for part, z in self._samples(batch):
            if points.shape[-3] == 1:
                scores = np.matmul(points[part][..., 0, :, :], z.swapaxes(-1, -2))
                out[part] = -(scores * scores).sum(axis=-2)
            else:
                scores = np.matmul(points[part], z[..., None])[..., 0]
                out[part] = -(scores * scores).sum(axis=-1)
        return out

    def _moment_blocks(self) -> Parts | None:
        moments = self._pca.moments
        if self._own_moments is None and moments is not None:
            self._own_moments = blocks_of(moments, self.clients)
        return self._own_moments


@register("pca")
@dataclass(frozen=True)
class Pca(Task):
    """Principal subspace of dimension `rank` of the clients' data, on the Stiefel manifold.

    min over x of -sum_i a_i (1/n_i) sum_j |x z_ij|^2, with x of shape (rank, d) and orthonormal
    rows (the transpose of the textbook's d x r matrix). With rank 1 it is the principal
    eigenvector, and x has shape (d,) on the sphere.

    Attributes
    ----------
    data
        Where the samples come from.
    partition
        How they are divided.
    clients
        Number of clients, or "natural": the owners that the data name.
    rank
        Dimension r of the subspace, at most d.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to n_i.
    manifold
        Where x lives, when other maps are wanted than the default of `Sphere(d)` for rank 1 and
        `Stiefel(rank, d)` else.
    precision
        Type of the samples, points and gradients.

    Examples
    --------
    >>> problem = Pca(data=GaussianBlocks(clients=3, samples=5, dimension=4), rank=1).build(Seed(1))
    >>> problem.initial_point().shape
    (4,)
    """

    data: Data = field(default_factory=GaussianBlocks)
    partition: Partition = field(default_factory=Natural)
    clients: Clients = "natural"
    rank: Annotated[int, Gt(0)] = 5
    weighting: Weighting = "clients"
    manifold: Manifold | None = None
    precision: Literal["float64", "float32"] = "float64"

    def build(self, seed: Seed) -> PcaProblem:
        """Load the data, divide them, and choose the manifold."""
        data, fleet = divide(self.data, self.partition, self.clients, self.weighting, seed)
        data = replace(data, x=data.x.astype(self.precision, copy=False))
        return PcaProblem(data, fleet, self._manifold(int(data.x.shape[-1])))

    def _manifold(self, d: int) -> Manifold:
        r = self.rank
        if r > d:
            raise SpecError(
                f"a subspace of dimension {r} does not fit into data of dimension {d}; "
                f"lower the rank to {d} or less"
            )
        if self.manifold is None:
            return Sphere(d) if r == 1 else Stiefel(r, d)
        shapes = [(r, d), (d,)] if r == 1 else [(r, d)]
        return with_orthonormal_rows(self.manifold, f"rank {r} and data of dimension {d}", *shapes)

"""What tasks share that seek a mean: targets on a manifold, and squared distances to them."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.data.base import ClientData
from driftfold.fleet import Fleet
from driftfold.manifolds.base import Geodesic
from driftfold.tasks.base import Batch
from driftfold.tasks.batch_size import BatchSize
from driftfold.tasks.centralised import Reference
from driftfold.tasks.kernel_data import KernelData, Loss
from driftfold.tasks.sampled import SampledProblem, SeparableView

_SHORTER = 1e-6  # share of the first gradient that may be left; nearly always it is rounding
_TILE_BYTES = 2**17  # of targets whose distances are computed at a time


class FrechetProblem(SampledProblem):
    """f_i(x) = scale * (1/n_i) sum_j c_ij dist(x, y_ij)^2 over x on a manifold.

    The Riemannian gradient is -2 scale (1/n_i) sum_j c_ij Log_x y_ij.

    Attributes
    ----------
    manifold
        Where x and the targets are.
    targets
        y_ij as the manifold stores points, shape (N, n_max, *shape); past n_i any valid points.
    coefficients
        c_ij, of any sign, shape (N, n_max); None for ones.
    scale
        Factor of all distances, above 0.
    """

    manifold: Geodesic
    kernel_loss: Loss | None = None
    """Form of the loss that kernels know, if there is one."""

    def __init__(
        self,
        fleet: Fleet,
        manifold: Geodesic,
        targets: Array,
        coefficients: Array | None = None,
        scale: float = 0.5,
    ) -> None:
        flat = targets.reshape(*targets.shape[:2], -1)
        data = ClientData(x=flat, y=None, samples=fleet.samples, label_shares=fleet.label_shares)
        super().__init__(data, fleet)
        self._plain = coefficients is None
        if coefficients is None:
            coefficients = np.broadcast_to(np.ones((), dtype=targets.dtype), targets.shape[:2])
        self.manifold = manifold
        self.targets = targets
        self.coefficients = coefficients
        self.scale = scale
        self.itemsize = int(targets.itemsize)

    @property
    def client_bytes(self) -> int:
        """Targets, their logarithms, and three points."""
        return self.itemsize * (2 * self.longest + 3) * self.dimension

    def initial_point(self) -> Array:
        """Return a random point of the manifold."""
        stream = self.fleet.seed.stream("initial point")
        point = self.manifold.random_point(stream, np.zeros(1, dtype=np.int64))[0]
        return point.astype(self.targets.dtype)

    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> "FrechetView":
        """Return the data of some clients."""
        return FrechetView(self, clients, dispatches)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Objective F(x), the optimality gap F(x) - F*, and the distance to the minimiser.

        The last two are left out where no minimiser was found.
        """
        x = x.astype(np.float64, copy=False)
        loss, best = self.objective(x), self.optimum()
        if best is None:
            return {"loss": loss}
        distance = float(self.manifold.dist(x, self.solution))
        return {"loss": loss, "gap": loss - best, "distance": distance}

    def objective(self, x: Array) -> float:
        """F at one point x."""
        x = x.astype(np.float64, copy=False)
        tile = max(1, _TILE_BYTES // self.data.x[0].nbytes)
        losses = np.empty(self.fleet.size)
        for start in range(0, self.fleet.size, tile):
            clients = np.arange(start, min(start + tile, self.fleet.size))
            view = self.view(clients, np.zeros_like(clients))
            losses[clients] = view.loss(x, view.everything())
        return float(np.vdot(self.fleet.importance, losses))

    def optimum(self) -> float | None:
        """Return F*, where `minimise` reaches it."""
        return self._found.value

    def remark(self) -> str:
        """Why there is no gap, if so."""
        return self._found.remark

    @cached_property
    def solution(self) -> Array:
        """Minimiser x* of F, float64."""
        return self.minimise()

    @abstractmethod
    def minimise(self) -> Array:
        """Compute the minimiser of F with all data at hand."""

    def kernel_data(self, size: BatchSize) -> KernelData | None:
        """Targets and coefficients."""
        if self.kernel_loss is None:
            return None
        whole = self.sizes(size)[2]
        given = None if self._plain else self.coefficients
        return KernelData(
            loss=self.kernel_loss,
            rows=self.targets,
            whole=whole,
            weights=self._row_weights if whole else given,
            factor=2 * self.scale,
        )

    @cached_property
    def _row_weights(self) -> Array:
        weights, coefficients = self.weights, self.coefficients
        alike = weights.strides[0] == coefficients.strides[0] == 0
        some = slice(1 if alike else None)  # one row, which all clients share
        made = (weights[some] * coefficients[some]).astype(self.targets.dtype)
        return np.broadcast_to(made, weights.shape)

    def logs(self, x: Array, y: Array) -> Array:
        """Logarithms at x (..., *shape) of targets y (..., B, *shape)."""
        return self.manifold.log(self._beside(x), y)

    def squares(self, x: Array, y: Array) -> Array:
        """Squared distances of x (..., *shape) to targets y (..., B, *shape), shape (..., B)."""
        distance = self.manifold.dist(self._beside(x), y)
        return distance * distance

    def _beside(self, x: Array) -> Array:
        return np.expand_dims(x, -len(self.manifold.shape) - 1)

    @cached_property
    def _found(self) -> Reference:
        start = self.initial_point().astype(np.float64, copy=False)
        first, last = (
            float(self.manifold.norm(x, self.gradient(x))) for x in (start, self.solution)
        )
        if last <= _SHORTER * max(1.0, first):
            return Reference(self.objective(self.solution))
        return Reference(
            None,
            "no gap is told, for F* is not known: where its solver ends, the gradient still has "
            f"length {last:.2g}, {first:.2g} at the start",
        )


class FrechetView(SeparableView):
    """The targets of some clients."""

    def __init__(self, problem: FrechetProblem, clients: Ints, dispatches: Ints) -> None:
        super().__init__(problem, clients, dispatches)
        self._frechet = problem
        self._whole: Array | None = None

    def gradient(self, x: Array, batch: Batch) -> Array:
        """Weighted sum of -2 scale Log_x y_j."""
        problem, shape = self._frechet, self._frechet.manifold.shape
        x = self._spread(x)
        lead = x.shape[: x.ndim - len(shape)]
        weights = -2 * self._factors(batch)
        out = np.empty((*lead, problem.dimension), dtype=np.result_type(x, weights))
        for part, rows in self._samples(batch):
            logs = problem.logs(x[part], rows.reshape(*rows.shape[:-1], *shape))
            np.matmul(
                weights[part][..., None, :], logs.reshape(rows.shape), out=out[part][..., None, :]
            )
        # Rounding may have carried the sum off the tangent space, e.g. made it unsymmetric.
        return problem.manifold.project(x, out.reshape(*lead, *shape))

    def loss(self, x: Array, batch: Batch) -> Array:
        """Weighted sum of scale * dist(x, y_j)^2."""
        problem = self._frechet
        x = self._spread(x)
        weights = self._factors(batch)
        out = np.empty(self.clients.shape, dtype=np.result_type(x, weights))
        for part, rows in self._samples(batch):
            y = rows.reshape(*rows.shape[:-1], *problem.manifold.shape)
            out[part] = (weights[part] * problem.squares(x[part], y)).sum(axis=-1)
        return out

    def _factors(self, batch: Batch) -> Array:
        """Factor scale * w_j * c_j of each squared distance, shape (..., B)."""
        if batch.whole and self._whole is not None:
            return self._whole
        all_ = self._frechet.coefficients
        own = all_[self.clients] if batch.indices is None else self._drawn(all_, batch.indices)
        factors: Floats = (self._frechet.scale * batch.weights * own).astype(all_.dtype)
        if batch.whole:
            self._whole = factors
        return factors

    def _drawn(self, all_: Array, indices: Ints) -> Array:
        return all_.reshape(-1)[self._rows(indices)]

"""Multitask feature learning: regressions that share a subspace of features."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Floats, Ints
from driftfold.data.base import ClientData, Data, Partition
from driftfold.data.natural import Natural
from driftfold.data.subspace_regression import SubspaceRegression
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.manifolds.base import Manifold
from driftfold.manifolds.grassmann import Grassmann
from driftfold.manifolds.small_matrices import solve as solve_small
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Batch, Task
from driftfold.tasks.division import Clients, Weighting, divide
from driftfold.tasks.orthonormal_rows import with_orthonormal_rows
from driftfold.tasks.referenced import ReferencedProblem
from driftfold.tasks.sampled import SampledView

_TILE_BYTES = 2**22  # of samples that are evaluated at a time


class FeatureProblem(ReferencedProblem):
    """f_i(U) = min_w (1/(2 n_i)) |Z_i U^T w - y_i|^2 + (ridge/2) |w|^2, U of shape (r, d).

    Parameters
    ----------
    data
        Each client's rows [z, y]: d features, then the target.
    fleet
        The clients.
    manifold
        The subspaces, as r orthonormal rows of length d.
    ridge
        Weight of the penalty, above 0.
    reference
        Whether F* is to be computed, for the gap.

    Examples
    --------
    >>> data = SubspaceRegression(clients=4, samples=6, dimension=5, rank=2)
    >>> problem = MultitaskFeatureLearning(data=data, rank=2).build(Seed(1))
    >>> problem.initial_point().shape, sorted(problem.evaluate(problem.initial_point(), time=0.0))
    ((2, 5), ['gap', 'loss'])
    """

    def __init__(
        self, data: ClientData, fleet: Fleet, manifold: Manifold, ridge: float, reference: bool
    ) -> None:
        super().__init__(data, fleet, reference)
        self.manifold = manifold
        self.ridge = ridge
        self.itemsize = int(data.x.itemsize)

    @property
    def client_bytes(self) -> int:
        """Samples, scores, point and gradient."""
        r, d = self.manifold.shape
        return self.itemsize * (self.longest * (d + 1 + 2 * r) + 3 * r * d)

    def initial_point(self) -> Array:
        """Return a uniformly random subspace."""
        stream = self.fleet.seed.stream("initial point")
        point = self.manifold.random_point(stream, np.zeros(1, dtype=np.int64))[0]
        return point.astype(self.data.x.dtype)

    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> "FeatureView":
        """Return the samples of some clients."""
        return FeatureView(self, clients, dispatches)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Objective F(x), and the gap F(x) - F*."""
        loss = self.objective(x)
        return {"loss": loss, **self.gap(loss)}

    def objective(self, x: Array) -> float:
        """F at one point x."""
        tile = max(1, _TILE_BYTES // self.client_bytes)
        total = 0.0
        for start in range(0, self.fleet.size, tile):
            ids = np.arange(start, min(self.fleet.size, start + tile))
            view = self.view(ids, np.zeros_like(ids))
            total += float(np.vdot(self.fleet.importance[ids], view.loss(x, view.everything())))
        return total


class FeatureView(SampledView):
    """The samples of some clients. A mini-batch fits its own weights w, as all samples do theirs.

    The mean over mini-batches is therefore not f_i, and the gradient of a mini-batch of few rows
    has a bias; it vanishes as the batch grows.
    """

    def __init__(self, problem: FeatureProblem, clients: Ints, dispatches: Ints) -> None:
        super().__init__(problem, clients, dispatches)
        self._features = problem

    def gradient(self, x: Array, batch: Batch) -> Array:
        """Projection of w (Z^T W e)^T with the residual e: w is optimal, so only U counts."""
        x = self._spread(x)
        out = np.empty(x.shape, dtype=x.dtype)
        for part, rows in self._samples(batch):
            z, shares = rows[..., :-1], batch.weights[part]
            w, _, error = self._fit(x[part], rows, shares)
            pull = np.matmul((shares * error)[..., None, :], z)
            np.multiply(w[..., :, None], pull, out=out[part], casting="same_kind")
        return self._features.manifold.gradient(x, out)

    def loss(self, x: Array, batch: Batch) -> Array:
        """(1/2) sum_j W_j e_j^2 + (ridge/2) |w|^2."""
        x = self._spread(x)
        out = np.empty(self.clients.shape, dtype=x.dtype)
        for part, rows in self._samples(batch):
            shares = batch.weights[part]
            w, _, error = self._fit(x[part], rows, shares)
            fit = (shares * error * error).sum(axis=-1)
            out[part] = (fit + self._features.ridge * (w * w).sum(axis=-1)) / 2
        return out

    def _fit(self, x: Array, rows: Array, shares: Array) -> tuple[Array, Array, Array]:
        """Weights w (..., r), features U Z^T (..., r, n) and residual U Z^T w - y (..., n)."""
        z, y = rows[..., :-1], rows[..., -1]
        scores = np.matmul(x, z.swapaxes(-1, -2))
        weighted = scores * shares[..., None, :]
        gram = np.matmul(weighted, scores.swapaxes(-1, -2))
        gram += self._features.ridge * np.eye(gram.shape[-1])
        w = solve_small(gram, np.matmul(weighted, y[..., None]))
        fitted = np.matmul(w.swapaxes(-1, -2), scores)[..., 0, :]
        return w[..., 0], scores, fitted - y


@register("multitask_feature_learning")
@dataclass(frozen=True)
class MultitaskFeatureLearning(Task):
    """A subspace of features on which every client's own ridge regression does well.

    min over subspaces U of dimension `rank` of sum_i a_i min_w (1/(2 n_i)) |Z_i U^T w - y_i|^2 +
    (ridge/2) |w|^2: the multitask feature learning of Ando and Zhang 2005 and of Argyriou,
    Evgeniou and Pontil 2008, on the Grassmann manifold as in Mishra, Kasai, Jawanpuria and Saroop
    2019 ("A Riemannian gossip approach to subspace learning on Grassmann manifold"), here with the
    penalty in the objective, which makes the gradient a closed form.

    Attributes
    ----------
    data
        Where the samples come from; the last number of each row is its target.
    partition
        How they are divided.
    clients
        Number of clients, or "natural": the owners that the data name.
    rank
        Dimension r of the subspace, below the number of features.
    ridge
        Weight of the penalty on each client's weights.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to n_i.
    reference
        Whether to compute F* by limited-memory BFGS, for the gap; costs some hundred evaluations.
        Where a thousand steps do not reach it, no gap is told.
    precision
        Of samples, points and gradients.
    manifold
        The subspaces, when other maps are wanted than the default of `Grassmann(rank, features)`.

    Examples
    --------
    >>> data = SubspaceRegression(clients=4, samples=6, dimension=5, rank=2)
    >>> problem = MultitaskFeatureLearning(data=data, rank=2).build(Seed(1))
    >>> problem.evaluate(problem.initial_point(), time=0.0)["gap"] > 0
    True
    """

    data: Data = field(default_factory=SubspaceRegression)
    partition: Partition = field(default_factory=Natural)
    clients: Clients = "natural"
    rank: Annotated[int, Gt(0)] = 5
    ridge: Annotated[float, Gt(0)] = 1e-3
    weighting: Weighting = "clients"
    reference: bool = True
    precision: Literal["float64", "float32"] = "float64"
    manifold: Manifold | None = None

    def build(self, seed: Seed) -> FeatureProblem:
        """Load the data and divide them."""
        data, fleet = divide(self.data, self.partition, self.clients, self.weighting, seed)
        manifold = self._manifold(int(data.x.shape[-1]) - 1)
        data = replace(data, x=data.x.astype(self.precision, copy=False))
        return FeatureProblem(data, fleet, manifold, self.ridge, self.reference)

    def _manifold(self, features: int) -> Manifold:
        if self.rank >= features:
            raise SpecError(
                f"rows of {features} features and a target have no subspace of dimension "
                f"{self.rank}; lower the rank below {features}"
            )
        if self.manifold is None:
            return Grassmann(self.rank, features)
        return with_orthonormal_rows(
            self.manifold, f"rank {self.rank} and {features} features", (self.rank, features)
        )

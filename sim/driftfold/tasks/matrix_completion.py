"""Low-rank matrix completion: a subspace in which all columns lie, from a few of their entries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.arrays import Array, Floats, Ints
from driftfold.data.base import ClientData, Data, Dataset, Partition
from driftfold.data.low_rank_ratings import LowRankRatings
from driftfold.data.natural import Natural
from driftfold.data.ratings import Ratings, RatingSource
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.manifolds.base import Manifold
from driftfold.manifolds.grassmann import Grassmann
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Batch, Task
from driftfold.tasks.column_fits import ColumnFits
from driftfold.tasks.division import Weighting, divide
from driftfold.tasks.known_entries import Columns, Entries
from driftfold.tasks.orthonormal_rows import with_orthonormal_rows
from driftfold.tasks.referenced import ReferencedProblem
from driftfold.tasks.sampled import SeparableView


class CompletionProblem(ReferencedProblem):
    """f_i(U) = mean over client i's columns of min_w (1/2) |entries - fit|^2, U of shape (r, m).

    Parameters
    ----------
    data
        Each client's columns: its users' numbers, as samples of length 1.
    fleet
        The clients.
    manifold
        The subspaces, as r orthonormal rows of length m.
    ratings
        Known entries, those held out for testing marked.
    ridge
        lambda: weight of the fitted values where nothing is known.
    reference
        Whether F* is to be computed, for the gap.
    dtype
        Precision of entries, points and gradients.

    Examples
    --------
    >>> source = LowRankRatings(items=8, users=10, rank=2, oversampling=1.5)
    >>> problem = MatrixCompletion(ratings=source, clients=5, rank=2).build(Seed(1))
    >>> problem.initial_point().shape, sorted(problem.evaluate(problem.initial_point(), time=0.0))
    ((2, 8), ['gap', 'loss', 'relative_error'])
    """

    def __init__(
        self,
        data: ClientData,
        fleet: Fleet,
        manifold: Manifold,
        ratings: Ratings,
        ridge: float,
        reference: bool,
        dtype: str,
    ) -> None:
        super().__init__(data, fleet, reference)
        self.manifold = manifold
        self.rank = manifold.shape[0]
        self.itemsize = np.dtype(dtype).itemsize
        self.users: Ints = data.x[..., 0].astype(np.int64)
        """Columns of each client, shape (N, n_max)."""
        self.ridge = ridge
        self.ratings = ratings
        self.columns = Columns(ratings.part(test=False), dtype)
        self._dtype = dtype

    @property
    def client_bytes(self) -> int:
        """Entries with their rows of U and the terms of the gradient, and three points."""
        entries = int(self.columns.counts.sum()) // max(1, self.fleet.size)
        return 16 * self.rank * (entries + 2 * self.manifold.shape[1])

    def initial_point(self) -> Array:
        """Return a uniformly random subspace."""
        stream = self.fleet.seed.stream("initial point")
        return self.manifold.random_point(stream, np.zeros(1, dtype=np.int64))[0].astype(
            self._dtype
        )

    def view(
        self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0
    ) -> "CompletionView":
        """Return the columns of some clients."""
        return CompletionView(self, clients, dispatches)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Objective, gap to F*, relative error of the whole matrix, and errors on held-out entries.

        ``relative_error`` is |U^T W - X| / |X| over all entries, where the truth X is known.
        ``rmse_honest`` predicts the entries held out for testing by weights fitted to the others;
        ``rmse_paper`` by weights fitted to the very entries that are predicted, as in the
        published experiments. Both are in the unit of the entries, that is after standardisation.
        """
        loss, weights = self._fitted(x, self.columns)
        figures = {"loss": loss, **self.gap(loss)}
        if self.ratings.truth is not None:
            figures["relative_error"] = relative_error(x, weights, *self.ratings.truth)
        if self._test_columns is not None:
            test = self.ratings.part(test=True)
            for name, used in (
                ("rmse_honest", weights),
                ("rmse_paper", self._fitted(x, self._test_columns)[1]),
            ):
                fitted = (x[:, test.item] * used[:, test.user]).sum(axis=0)
                figures[name] = float(np.sqrt(np.mean((fitted - test.value) ** 2)))
        return figures

    def objective(self, x: Array) -> float:
        """F at one point x."""
        return self._fitted(x, self.columns)[0]

    def gradient(self, x: Array) -> Array:
        """Riemannian gradient of F at one point x."""
        total = np.zeros(x.shape)
        for some in self.columns.tiles(self._everyone):
            fits = self._fits(x, self.columns, some)
            total += fits.gradient(self._shares[self._everyone[some]])[0]
        return total.astype(x.dtype, copy=False)

    @cached_property
    def _everyone(self) -> Ints:
        """Users of all clients, in ascending order."""
        return np.flatnonzero(self._shares)

    @cached_property
    def _shares(self) -> Floats:
        """Weight of each user's f_j in F, shape (users,)."""
        shares = np.zeros(self.ratings.users)
        np.add.at(shares, self.users, self.weights * self.fleet.importance[:, None])
        return shares

    @cached_property
    def _test_columns(self) -> Columns | None:
        test = self.ratings.part(test=True)
        return Columns(test, self._dtype) if len(test.value) else None

    def _fitted(self, x: Array, columns: Columns) -> tuple[float, Array]:
        """Weighted mean of all f_j, and the weights of all users' columns, (r, users)."""
        total, weights = 0.0, np.zeros((self.rank, self.ratings.users))
        for some in columns.tiles(self._everyone):
            users = self._everyone[some]
            fits = self._fits(x, columns, some)
            total += float(np.vdot(self._shares[users], fits.losses()))
            weights[:, users] = fits.weights
        return total, weights

    def _fits(self, x: Array, columns: Columns, some: slice) -> ColumnFits:
        users = self._everyone[some]
        return ColumnFits(columns.of(users, np.zeros_like(users), 1), x[None], self.ridge)


class CompletionView(SeparableView):
    """The columns of some clients; a mini-batch is some of a client's columns."""

    def __init__(self, problem: CompletionProblem, clients: Ints, dispatches: Ints) -> None:
        super().__init__(problem, clients, dispatches)
        self._completion = problem
        self._chosen: tuple[Batch, Entries, Floats] | None = None

    def gradient(self, x: Array, batch: Batch) -> Array:
        """Mean over the batch's columns of w_j r_j^T: horizontal as it is."""
        x = self._spread(x)
        fits, shares, _ = self._fits(x, batch)
        return fits.gradient(shares).reshape(x.shape).astype(x.dtype, copy=False)

    def loss(self, x: Array, batch: Batch) -> Array:
        """Mean of f_j over the batch's columns."""
        x = self._spread(x)
        fits, shares, matrix = self._fits(x, batch)
        count = self.clients.size
        losses = np.bincount(matrix, weights=shares * fits.losses(), minlength=count)
        return losses.reshape(self.clients.shape).astype(x.dtype, copy=False)

    def _fits(self, x: Array, batch: Batch) -> tuple[ColumnFits, Floats, Ints]:
        if self._chosen is None or self._chosen[0] is not batch:
            self._chosen = (batch, *self._entries(batch))
        _, entries, shares = self._chosen
        fits = ColumnFits(entries, x.reshape(-1, *x.shape[-2:]), self._completion.ridge)
        return fits, shares, entries.matrix

    def _entries(self, batch: Batch) -> tuple[Entries, Floats]:
        """Entries of the batch's columns, and the columns' weights; padding is left out."""
        problem, clients = self._completion, self.clients.reshape(-1)
        users = problem.users[clients]
        if batch.indices is not None:
            users = np.take_along_axis(users, _flat(batch.indices), axis=1)
        weights = _flat(batch.weights)
        used = weights > 0
        matrix = np.nonzero(used)[0]
        return problem.columns.of(users[used], matrix, len(clients)), weights[used]


def _flat(of_batch: Array) -> Array:
    """Shape (..., B) as (clients, B); there may be no client."""
    return of_batch.reshape(of_batch.size // max(1, of_batch.shape[-1]), of_batch.shape[-1])


def relative_error(x: Array, weights: Array, a: Floats, b: Floats) -> float:
    """|x^T W - A B^T| / |A B^T| in the Frobenius norm, without forming the matrices.

    Parameters
    ----------
    x
        Shape (r, m).
    weights
        W, shape (r, n).
    a, b
        Factors of the true matrix, shapes (m, s) and (n, s).

    Examples
    --------
    >>> x, w = np.array([[0.6, 0.8]]), np.array([[5.0]])
    >>> round(relative_error(x, w, np.array([[3.0], [0.0]]), np.array([[1.0]])), 12)
    1.333333333333
    """
    # A triangle in place of the tall factor keeps the length of the difference, to rounding.
    triangle = np.linalg.qr(np.concatenate([x.T, -a], axis=1), mode="r")
    difference = triangle @ np.concatenate([weights, b.T])
    whole = np.linalg.qr(a, mode="r") @ b.T
    return float(np.linalg.norm(difference) / np.linalg.norm(whole))


@dataclass(frozen=True)
class _Users(Data):
    """Numbers of users as samples; by nature, clients own equal runs of them."""

    users: int
    clients: int

    def load(self, seed: Seed) -> Dataset:
        numbers = np.arange(self.users)
        return Dataset(
            x=numbers[:, None].astype(np.float64), owner=numbers * self.clients // self.users
        )


@register("matrix_completion")
@dataclass(frozen=True)
class MatrixCompletion(Task):
    """Completion of a matrix (items, users) whose columns lie near one subspace of dimension r.

    min over subspaces U of dimension `rank` of the mean over clients of the mean over a client's
    users j of (1/2) |U^T w_j - x_j|^2 on the known entries plus (ridge/2) |U^T w_j|^2 on the
    others, with w_j the best weights (Boumal and Absil 2015, "Low-rank matrix completion via
    preconditioned optimization on the Grassmann manifold"; Mishra et al. 2019). Each client holds
    some users' columns; a mini-batch is some of them.

    Attributes
    ----------
    ratings
        Where the known entries come from.
    partition
        How users are divided; "natural" gives each client an equal run of them.
    clients
        Number of clients, at most the number of users.
    rank
        Dimension r of the subspace, below the number of items.
    ridge
        Weight lambda of the fitted values where nothing is known.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to the number of users.
    reference
        Whether to compute F* by limited-memory BFGS, for the gap; costs some hundred evaluations.
        Where a thousand steps do not reach it, no gap is told.
    precision
        Of entries, points and gradients.
    manifold
        The subspaces, when other maps are wanted than the default of `Grassmann(rank, items)`.

    Examples
    --------
    >>> source = LowRankRatings(items=8, users=10, rank=2, oversampling=1.5)
    >>> MatrixCompletion(ratings=source, clients=5, rank=2).build(Seed(1)).fleet.samples.tolist()
    [2, 2, 2, 2, 2]
    """

    ratings: RatingSource = field(default_factory=LowRankRatings)
    partition: Partition = field(default_factory=Natural)
    clients: Annotated[int, Gt(0)] = 20
    rank: Annotated[int, Gt(0)] = 5
    ridge: Annotated[float, Ge(0), Lt(1)] = 0.0
    weighting: Weighting = "clients"
    reference: bool = True
    precision: Literal["float64", "float32"] = "float64"
    manifold: Manifold | None = None

    def build(self, seed: Seed) -> CompletionProblem:
        """Load the entries, and divide the users."""
        ratings = self.ratings.load(seed)
        if self.clients > ratings.users:
            raise SpecError(
                f"{self.clients} clients cannot share {ratings.users} users; lower 'clients'"
            )
        users = _Users(ratings.users, self.clients)
        data, fleet = divide(users, self.partition, self.clients, self.weighting, seed)
        return CompletionProblem(
            data,
            fleet,
            self._manifold(ratings.items),
            ratings,
            self.ridge,
            self.reference,
            self.precision,
        )

    def _manifold(self, items: int) -> Manifold:
        if self.rank >= items:
            raise SpecError(
                f"columns of {items} items have no subspace of dimension {self.rank}; lower the "
                f"rank below {items}"
            )
        if self.manifold is None:
            return Grassmann(self.rank, items)
        return with_orthonormal_rows(
            self.manifold, f"rank {self.rank} and {items} items", (self.rank, items)
        )

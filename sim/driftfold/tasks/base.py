"""Tasks: what the federation minimises."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.fleet import Fleet
from driftfold.manifolds.base import Manifold
from driftfold.registry import family
from driftfold.rng import Seed, Stream
from driftfold.tasks.batch_size import Batching, BatchSize
from driftfold.tasks.kernel_data import KernelData

_CLIENTS = 256  # whose gradients are computed at a time, at most
_BYTES = 2**22  # of what their work touches, which has several temporaries


@dataclass(frozen=True)
class Batch:
    """One mini-batch of each client of a view, as a weight on every row of its data.

    Attributes
    ----------
    indices
        Rows drawn, shape (..., B), or None when all rows are used.
    weights
        Weight of each row drawn (1/B_i, or 0 for padding), shape (..., B), or of all rows,
        shape (..., n_max), when `indices` is None.
    whole
        Whether these are all samples of each client, each with weight 1/n_i; a view may then use
        what it knows about them as a whole.
    """

    indices: Ints | None
    weights: Floats
    whole: bool = False


class View(ABC):
    """The data of a stack of clients, as local work sees them.

    `clients` and `dispatches` have shape (C,) in a stacked computation and shape () when one
    client is computed alone; all results carry the same leading axes.
    """

    clients: Ints
    dispatches: Ints
    seed: Seed

    @abstractmethod
    def batches(self, size: Batching, steps: int, versions: Array | None = None) -> Sequence[Batch]:
        """Draw `steps` mini-batches, anew each step, without replacement within a step.

        The first batches do not depend on how many are asked for. A rule for the size is asked
        with the server version that the clients work for, the same for all, shape (...).
        """

    @abstractmethod
    def everything(self) -> Batch:
        """All samples of each client, each with weight 1/n_i."""

    @abstractmethod
    def gradient(self, x: Array, batch: Batch) -> Array:
        """Riemannian gradient in T_x M of the mean loss over the batch, at x (..., *shape)."""

    @abstractmethod
    def loss(self, x: Array, batch: Batch) -> Array:
        """Mean loss over the batch at x, shape (...)."""

    def stream(self, purpose: str) -> Stream:
        """Random stream for `purpose`, to be addressed by `clients` and `dispatches`."""
        return self.seed.stream(purpose)


class SampleLosses(View):
    """A view whose loss over a batch is the weighted mean of the losses of its samples.

    Not so where a mini-batch fits something of its own before its loss is known.
    """

    @abstractmethod
    def sample_losses(self, x: Array, batch: Batch) -> Array:
        """Loss of each sample of a batch at a point of its own, shape (..., B).

        x has shape (..., B, *shape), or (..., 1, *shape): one point for all samples of a client.
        Where the batch has no weight (padding) the values mean nothing, and are finite.
        """


@dataclass(frozen=True)
class DataChange:
    """Clients' data changed: the truth, which no algorithm is told.

    Attributes
    ----------
    time
        When, virtual seconds.
    what
        What changed, in words.
    values
        Figures, such as how many clients it concerns.
    """

    time: float
    what: str
    values: Mapping[str, float]


class Problem(ABC):
    """A task with its data at hand: F(x) = sum_i a_i f_i(x) over a fleet, x on a manifold."""

    manifold: Manifold
    fleet: Fleet
    itemsize: int = 8
    """Bytes of one number of a point."""

    @property
    def point_bytes(self) -> int:
        """Size of one point or tangent vector, in bytes."""
        return math.prod(self.manifold.shape) * self.itemsize

    @property
    @abstractmethod
    def client_bytes(self) -> int:
        """About how many bytes the local work of one client touches again and again.

        The stacked engine cuts stacks so that a tile's share stays in cache.
        """

    @abstractmethod
    def initial_point(self) -> Array:
        """Return the first iterate x_1, the same for every algorithm under one seed."""

    @abstractmethod
    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> View:
        """Return the data of `clients` as they are at `times` (virtual seconds).

        All three have the stack's shape (C,) or (); one time stands for all. Dispatch numbers
        address the randomness of each one's work. The data of most problems never change.
        """

    @abstractmethod
    def batch_samples(self, size: BatchSize, clients: Ints) -> Floats:
        """Return how many samples one mini-batch of each client holds (B_i), shape (k,)."""

    @abstractmethod
    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Metrics of the model x at virtual time `time`; the first one is the objective."""

    def gradient(self, x: Array) -> Array:
        """Riemannian gradient of F at one point x, over all samples of all clients."""
        total = np.zeros(x.shape)
        tile = max(1, min(_CLIENTS, _BYTES // max(1, self.client_bytes)))
        for start in range(0, self.fleet.size, tile):
            clients = np.arange(start, min(start + tile, self.fleet.size))
            view = self.view(clients, np.zeros_like(clients))
            g = view.gradient(np.broadcast_to(x, (len(clients), *x.shape)), view.everything())
            weights = self.fleet.importance[clients].reshape(-1, *[1] * x.ndim)
            total += np.add.reduce(weights * g, axis=0)
        return total.astype(x.dtype, copy=False)

    def objective(self, x: Array) -> float:
        """F at one point x: the first metric of `evaluate`."""
        return next(iter(self.evaluate(x, time=0.0).values()))

    def optimum(self) -> float | None:
        """Return the smallest value F* of the objective, where it is known."""
        return None

    def remark(self) -> str:
        """What the first evaluation of a run has to say, such as why there is no gap."""
        return ""

    def changes(self, after: float, until: float) -> Sequence[DataChange]:
        """True changes of the clients' data after `after` and up to `until`. Default: none."""
        return ()

    def kernel_data(self, size: BatchSize) -> KernelData | None:
        """Return the data in a form that kernels know, for mini-batches of `size`, or None."""
        return None


@family("task")
class Task(ABC):
    """Configuration of a problem."""

    @abstractmethod
    def build(self, seed: Seed) -> Problem:
        """Load or generate the data and return the problem."""

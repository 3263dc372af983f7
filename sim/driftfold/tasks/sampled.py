"""What tasks share whose clients hold samples: views that draw mini-batches of rows."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.data.base import ClientData
from driftfold.fleet import Fleet
from driftfold.tasks.base import Batch, Problem, SampleLosses, View
from driftfold.tasks.batch_size import Batching, BatchRule, BatchSize
from driftfold.tasks.blocks import Parts, blocks_of
from driftfold.tasks.sampling import batch_sizes, draw


class SampledProblem(Problem):
    """A problem whose clients hold samples.

    Attributes
    ----------
    data
        The clients' samples.
    longest, dimension
        Largest n_i, and length d of a sample.
    weights
        1/n_i on each of a client's n_i rows and 0 on padding, shape (N, n_max); where all clients
        have as many samples, a view of one row.
    """

    def __init__(self, data: ClientData, fleet: Fleet) -> None:
        self.data = data
        self.fleet = fleet
        self.longest = data.longest
        self.dimension = data.dimension
        alike = bool((data.samples == self.longest).all())
        samples = data.samples[:1] if alike else data.samples
        real = np.arange(self.longest) < samples[:, None]
        weights: Floats = real / np.maximum(samples, 1)[:, None]
        everyone = len(data.samples), self.longest
        self.weights: Floats = np.broadcast_to(weights, everyone) if alike else weights
        self._sizes: dict[tuple[type, BatchSize], tuple[Ints, int, bool]] = {}

    def batch_samples(self, size: BatchSize, clients: Ints) -> Floats:
        """Return the samples B_i in one mini-batch of each client."""
        return self.sizes(size)[0][clients].astype(np.float64)

    def sizes(self, size: BatchSize) -> tuple[Ints, int, bool]:
        """All clients' B_i, shape (N,); the largest; and whether all are the clients' n_i."""
        key = type(size), size  # 1 is a sample, and 1.0 all
        if key not in self._sizes:
            each = batch_sizes(size, self.data.samples)
            whole = bool((each == self.data.samples).all())
            self._sizes[key] = each, int(each.max()), whole
        return self._sizes[key]


class SampledView(View):
    """A view that draws mini-batches of rows and finds their data."""

    def __init__(self, problem: SampledProblem, clients: Ints, dispatches: Ints) -> None:
        self.clients = np.asarray(clients)
        self.dispatches = np.asarray(dispatches)
        self.seed = problem.fleet.seed
        self._problem = problem
        self._everything: Batch | None = None
        self._blocks: Parts | None = None
        self._gathered: tuple[Batch, Array] | None = None

    def everything(self) -> Batch:
        """All samples of each client, each with weight 1/n_i."""
        if self._everything is None:
            weights = self._problem.weights
            self._everything = Batch(indices=None, weights=weights[self.clients], whole=True)
        return self._everything

    def batches(self, size: Batching, steps: int, versions: Array | None = None) -> Sequence[Batch]:
        """Draw `steps` mini-batches; all are the same when `size` covers every client's data."""
        if isinstance(size, BatchRule):
            return self._by_rule(size, steps, 0 if versions is None else int(np.max(versions)))
        return self._of(size, steps, 0)

    def _by_rule(self, rule: BatchRule, steps: int, version: int) -> Sequence[Batch]:
        """Steps one after the other, each with the words that follow those of the last one."""
        made: list[Batch] = []
        start = 0
        asked = [rule.size(version, step) for step in range(steps)]
        for (_, size), equal in groupby(asked, key=lambda size: (type(size), size)):
            drawn = self._of(size, len(list(equal)), start)
            start += sum(batch.weights.shape[-1] for batch in drawn if not batch.whole)
            made += drawn
        return made

    def _of(self, size: BatchSize, steps: int, start: int) -> Sequence[Batch]:
        """Mini-batches of one size, from word `start` of the clients' streams on."""
        sizes, longest, whole = self._problem.sizes(size)
        if whole:
            return [self.everything()] * steps
        return self._draws(sizes[self.clients.reshape(-1)], steps, longest, start)

    def _draws(self, each: Ints, steps: int, longest: int, start: int) -> Sequence[Batch]:
        shape = self.clients.shape
        clients = self.clients.reshape(-1)
        indices = draw(
            self.stream("batch"),
            clients,
            np.broadcast_to(self.dispatches, shape).reshape(-1),
            self._problem.data.samples[clients],
            each,
            steps,
            longest,
            start,
        )
        weights = (np.arange(longest) < each[:, None]) / np.maximum(each, 1)[:, None]
        weights = weights.reshape(*shape, longest)
        return [Batch(rows.reshape(*shape, longest), weights) for rows in indices]

    def _spread(self, x: Array) -> Array:
        """Points with the leading axes of the stack; one point alone is everybody's."""
        point = self._problem.manifold.shape
        if x.ndim > len(point) or self.clients.ndim == 0:
            return x
        return np.broadcast_to(x, (*self.clients.shape, *point))

    def _samples(self, batch: Batch) -> Parts:
        """Rows of features of a batch: drawn ones gathered, shape (..., B, d), or all.

        Gathering is faster than a product with all rows and zero weights while a batch is below
        0.8 of the data (measured for both tasks), and never much slower. What is gathered stays
        valid until another batch is.
        """
        x, shared = self._problem.data.x, self._problem.data.rows
        if batch.indices is None:
            if self._blocks is None:
                if shared is None:
                    self._blocks = blocks_of(x, self.clients)
                else:
                    self._blocks = [(..., x[shared[self.clients]])]
            return self._blocks
        if self._gathered is None or self._gathered[0] is not batch:
            shape = (*batch.indices.shape, x.shape[-1])
            used = self._gathered
            buffer = used[1] if used and used[1].shape == shape else np.empty(shape, x.dtype)
            rows = self._rows(batch.indices)
            np.take(x.reshape(-1, shape[-1]), rows, axis=0, out=buffer, mode="clip")
            self._gathered = batch, buffer
        return [(..., self._gathered[1])]

    def _rows(self, indices: Ints) -> Ints:
        """Numbers of rows `indices` (..., B) in the array of all clients' rows."""
        return self._problem.data.numbers(self.clients, indices)


class SeparableView(SampledView, SampleLosses):
    """A view whose loss over a batch is the weighted mean of the losses of its samples."""

    def sample_losses(self, x: Array, batch: Batch) -> Array:
        """Losses of batches of one row, in a stack with one entry for each client and sample."""
        point, lead = self._problem.manifold.shape, batch.weights.shape
        count = lead[-1]
        rows = batch.indices
        if rows is None:
            rows = np.broadcast_to(np.arange(count), lead)
        apart = Batch(rows.reshape(-1, 1), (batch.weights > 0).reshape(-1, 1).astype(np.float64))
        clients, dispatches = np.broadcast_arrays(self.clients, self.dispatches)
        view = self._problem.view(
            np.repeat(clients.reshape(-1), count), np.repeat(dispatches.reshape(-1), count)
        )
        each = np.broadcast_to(x, (*lead, *point)).reshape(-1, *point)
        return view.loss(each, apart).reshape(lead)

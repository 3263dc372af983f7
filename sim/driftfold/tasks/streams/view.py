"""What a client sees of its stream: a batch of inputs, at the step of its visit."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.nets.losses import cross_entropy
from driftfold.nets.masks import Masks
from driftfold.tasks.base import Batch, View
from driftfold.tasks.batch_size import Batching, BatchRule
from driftfold.tasks.sampling import batch_sizes, draw

if TYPE_CHECKING:
    from driftfold.tasks.streams.problem import StreamProblem


class StreamView(View):
    """The batches of a stack of clients.

    Adaptation reads `inputs`. `truth` is what only a simulator knows: metrics may use it, and so
    does an algorithm that is meant to have labels. The methods of `View` are those of a supervised
    learner who sees the truth.

    Attributes
    ----------
    steps
        Step of each client's stream, shape (...).
    """

    def __init__(
        self, problem: "StreamProblem", clients: Ints, dispatches: Ints, times: Floats | float
    ) -> None:
        self.clients = np.asarray(clients)
        self.dispatches = np.asarray(dispatches)
        self.seed = problem.fleet.seed
        self.steps: Ints = np.broadcast_to(problem.step_at(times), self.clients.shape)
        self._problem = problem
        self._times = times

    def alone(self) -> "StreamView":
        """Return the view of one client, shape (), as a stack of one, shape (1,)."""
        times = np.asarray(self._times)[None]
        return StreamView(self._problem, self.clients[None], self.dispatches[None], times)

    @cached_property
    def _drawn(self) -> tuple[Array, Ints]:
        return self._problem.stream.batch(self.clients, self.steps)

    @property
    def inputs(self) -> Array:
        """The batch x of each client, without labels, shape (..., n, *inputs)."""
        return self._drawn[0]

    @property
    def truth(self) -> Ints:
        """True classes of the batch, shape (..., n)."""
        return self._drawn[1]

    def masks(self, pass_number: int) -> Masks:
        """Dropout of a client's pass 0, 1, 2, ... in training mode on this visit."""
        return Masks(self.stream(f"dropout {pass_number}"), self.clients, self.dispatches)

    def hits(self, logits: Array) -> Ints:
        """How many of the batch are classified rightly by logits (..., n, K), shape (...)."""
        right: Bools = logits.argmax(axis=-1) == self.truth
        hits: Ints = right.sum(axis=-1)
        return hits

    def everything(self) -> Batch:
        """The whole batch of the step, each input with weight 1/n."""
        n = self._problem.stream.size
        weights = np.broadcast_to(np.full(n, 1 / n), (*self.clients.shape, n))
        return Batch(indices=None, weights=weights, whole=True)

    def batches(self, size: Batching, steps: int, versions: Array | None = None) -> Sequence[Batch]:
        """Draw `steps` parts of the step's batch, without replacement within one."""
        if isinstance(size, BatchRule):
            version = 0 if versions is None else int(np.max(versions))
            drawn = [self._parts(f"batch.{k}", size.size(version, k), 1) for k in range(steps)]
            return [part for parts in drawn for part in parts]
        return self._parts("batch", size, steps)

    def _parts(self, purpose: str, size: Batching, steps: int) -> Sequence[Batch]:
        shape, n = self.clients.shape, self._problem.stream.size
        flat = self.clients.reshape(-1)
        samples = np.full(len(flat), n)
        sizes = batch_sizes(size, samples)  # type: ignore[arg-type]
        part = int(sizes.max(initial=1))  # of nobody, too
        if part == n:
            return [self.everything()] * steps
        visits = np.broadcast_to(self.dispatches, shape).reshape(-1)
        rows = draw(self.stream(purpose), flat, visits, samples, sizes, steps, part)
        weights = np.full((*shape, part), 1 / part)
        return [Batch(each.reshape(*shape, part), weights) for each in rows]

    def gradient(self, x: Array, batch: Batch) -> Array:
        """Gradient of the mean cross-entropy with the true classes, (..., P)."""
        inputs, truth = self._rows(batch)
        made = self._problem.model.forward(x, inputs)
        _, slope = cross_entropy(made.logits, truth)
        return made.pullback(slope * batch.weights[..., None].astype(slope.dtype))

    def loss(self, x: Array, batch: Batch) -> Array:
        """Mean cross-entropy with the true classes, shape (...)."""
        inputs, truth = self._rows(batch)
        losses, _ = cross_entropy(self._problem.model.forward(x, inputs).logits, truth)
        return (losses * batch.weights).sum(axis=-1)

    def _rows(self, batch: Batch) -> tuple[Array, Ints]:
        if batch.indices is None:
            return self.inputs, self.truth
        axes = (1,) * len(self._problem.model.inputs)
        place = batch.indices.reshape(*batch.indices.shape, *axes)
        inputs = np.take_along_axis(self.inputs, place, axis=self.clients.ndim)
        return inputs, np.take_along_axis(self.truth, batch.indices, axis=-1)

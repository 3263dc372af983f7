"""A deployed classifier whose clients meet streams of data."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.fleet import Fleet
from driftfold.manifolds.euclidean import Euclidean
from driftfold.nets.base import Model
from driftfold.nets.losses import cross_entropy
from driftfold.signals.base import Held
from driftfold.tasks.base import DataChange, Problem
from driftfold.tasks.batch_size import BatchSize
from driftfold.tasks.sampling import batch_sizes
from driftfold.tasks.streams.source import Source
from driftfold.tasks.streams.stream import Stream
from driftfold.tasks.streams.view import StreamView


class StreamProblem(Problem):
    """Clients that meet a batch of inputs at each step of their streams, and a model to adapt.

    The objective of a model is its mean cross-entropy over all clients' present batches with the
    true classes, which nobody is told.

    Attributes
    ----------
    model
        The net.
    source
        What is known before deployment.
    stream
        What clients meet.
    period
        Virtual seconds from one step of the streams to the next.
    """

    def __init__(self, source: Source, stream: Stream, fleet: Fleet, period: float) -> None:
        self.source, self.stream, self.fleet, self.period = source, stream, fleet, period
        self.model: Model = source.model
        self.manifold = Euclidean(self.model.layout.size)
        self.itemsize = self.model.dtype.itemsize

    def step_at(self, times: Floats | float) -> Ints:
        """Step 0 .. T-1 of the streams at virtual times, of their shape; the last one lasts."""
        # Half an ulp of a product may lie before the step that a time stands for.
        steps = np.floor(np.asarray(times) / self.period * (1 + 1e-12)).astype(np.int64)
        return np.clip(steps, 0, self.stream.steps - 1)

    @cached_property
    def held(self) -> Held:
        """What theta_0 says of held-out data, with classes as frequent as in the prior pi_0."""
        source = self.source
        labels = source.held_out_labels
        there = np.bincount(labels, minlength=source.classes)
        return Held(
            source.held_out_probabilities,
            source.held_out_features,
            self.stream.size,
            self.fleet.seed,
            weights=source.prior[labels] / there[labels],
        )

    @property
    def client_bytes(self) -> int:
        """A batch, parameters and their gradient, and what a pass keeps for its way back."""
        numbers = 3 * self.model.layout.size + self.stream.size * int(np.prod(self.model.inputs))
        return self.itemsize * numbers + self.model.pass_bytes(self.stream.size)

    def initial_point(self) -> Array:
        """The trained model."""
        return self.source.start

    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> StreamView:
        """Return the batches that `clients` meet at `times`."""
        return StreamView(self, clients, dispatches, times)

    def batch_samples(self, size: BatchSize, clients: Ints) -> Floats:
        """Return the samples in one mini-batch of each client."""
        sizes = batch_sizes(size, np.full(len(clients), self.stream.size))
        return sizes.astype(np.float64)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Loss and accuracy of one model for all clients on their batches at virtual `time`."""
        loss, right = 0.0, 0
        for clients in self.tiles():
            view = self.view(clients, np.zeros_like(clients), time)
            logits = self.model.forward(x, view.inputs).logits
            losses, _ = cross_entropy(logits, view.truth)
            loss += float(losses.astype(np.float64).sum())
            right += int(view.hits(logits).sum())
        seen = self.fleet.size * self.stream.size
        return {"loss": loss / seen, "accuracy": right / seen}

    def changes(self, after: float, until: float) -> Sequence[DataChange]:
        """Tell of each step at which the streams of some clients began to move another way."""
        first, last = (math.floor(time / self.period * (1 + 1e-12)) for time in (after, until))
        told = []
        for step in range(max(first + 1, 0), min(last, self.stream.steps - 1) + 1):
            changed = self.stream.changes.get(step)
            if changed:
                values = {"step": float(step), **{k: float(v) for k, v in changed.items()}}
                what = ", ".join(f"{n} clients: {name}" for name, n in changed.items())
                told.append(DataChange(step * self.period, what, values))
        return told

    def tiles(self) -> list[Ints]:
        """All clients, as many at a time as fit into a few megabytes."""
        tile = max(1, 2**22 // self.client_bytes)
        everyone = np.arange(self.fleet.size)
        return [everyone[start : start + tile] for start in range(0, self.fleet.size, tile)]

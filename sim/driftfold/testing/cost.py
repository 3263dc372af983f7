"""What a round of an algorithm costs, counted: bytes, gradients, and vectors through each map."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar

import numpy as np

from driftfold.algorithms.base import Algorithm, Arrivals
from driftfold.arrays import Array, Floats, Ints
from driftfold.compute.base import Stack
from driftfold.compute.stacked import StackedEngine
from driftfold.manifolds.base import GradientStream, Manifold
from driftfold.tasks.base import Batch, Problem, SampleLosses, View
from driftfold.tasks.batch_size import Batching, BatchSize
from driftfold.trees import nbytes, spread

M = TypeVar("M", bound=Manifold)

MAPS = ("retract", "exp", "inverse_retract", "log", "transport", "project", "nearest")
"""Maps that are counted."""


@dataclass(frozen=True)
class RoundCost:
    """What one round costs, over all its phases.

    Attributes
    ----------
    download, upload
        Bytes to and from one client.
    gradients
        Gradients (or losses, where there are none) of samples that each client evaluates, (k,).
    client, server
        Vectors that go through each of `MAPS` at one client, and at the server. A gradient that a
        stream takes to its origin is a transport, also where one projection does it for the sum.
    memory, state
        Bytes that one client keeps from round to round, and that the server keeps.
    metrics
        What the server's steps told, such as the iterations of a mean.
    """

    download: int
    upload: int
    gradients: Floats
    client: Mapping[str, int]
    server: Mapping[str, int]
    memory: int
    state: int
    metrics: Mapping[str, float]


def cost_of_round(algorithm: Algorithm[Any], problem: Problem, clients: Ints) -> RoundCost:
    """Let `clients`, shape (k,), take part in two rounds, and count the second one.

    The problem's own maps, with which it finds its gradients, do not count. Raises `ValueError`
    where the maps of a stack are not as many for each client.

    >>> from driftfold.algorithms.rfedags import RFedAGS
    >>> from driftfold.data import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks import Pca
    >>> problem = Pca(data=GaussianBlocks(clients=9, samples=4, dimension=3), rank=1).build(Seed(1))
    >>> cost = cost_of_round(RFedAGS(steps=5, batch=2), problem, np.arange(3))
    >>> cost.upload, cost.gradients.tolist(), cost.client, cost.server
    (24, [10.0, 10.0, 10.0], {'retract': 4, 'transport': 4}, {'retract': 1})
    """
    algorithm.check(problem)
    manifold, counts = counted(problem.manifold)
    seen = _Counted(problem, manifold)
    k = len(clients)
    state, fresh = algorithm.begin(seen, problem.initial_point()), algorithm.memory(seen)
    memory = None if fresh is None else spread(fresh, k)
    for version in range(2):
        download = upload = 0
        client: Counter[str] = Counter()
        server: Counter[str] = Counter()
        metrics: dict[str, float] = {}
        seen.spent = np.zeros(problem.fleet.size)
        for phase in algorithm.phases(seen):
            sent = phase.broadcast(state, version)
            counts.clear()
            dispatches = np.full(k, version)
            work = Stack(phase, phase.steps, clients, dispatches, np.zeros(k), [sent], True, memory)
            result = StackedEngine(seen, k).run(work)
            client += counts
            if memory is not None:
                memory = result.memory
            counts.clear()
            arrivals = Arrivals(
                clients, result.payload, spread(sent, k), dispatches, np.zeros(k, dtype=bool)
            )
            state, told = phase.step(state, arrivals, np.full(k, 1 / k))
            server += counts
            metrics |= told
            download += nbytes(sent)
            upload += nbytes(result.payload) // k
    each = {name: _shared(client[name], k) for name in MAPS if name in client}
    central = {name: server[name] for name in MAPS if name in server}
    kept = 0 if fresh is None else nbytes(fresh)
    spent = seen.spent[clients]
    return RoundCost(download, upload, spent, each, central, kept, nbytes(state), metrics)


def counted(manifold: M) -> tuple[M, Counter[str]]:
    """Return the same manifold, which counts, and its counts: vectors through each of `MAPS`.

    A map counts for the leading axes of its arguments; what it uses within itself does not count.

    >>> from driftfold.manifolds import Sphere
    >>> sphere, counts = counted(Sphere(3))
    >>> x = np.eye(3)
    >>> _ = sphere.transport(x[0], x[1], np.zeros((5, 3)))
    >>> counts
    Counter({'transport': 5})
    """
    counts: Counter[str] = Counter()
    inside: list[str] = []

    def counting(name: str, original: Callable[..., Array]) -> Callable[..., Array]:
        def method(self: Manifold, *arguments: Array) -> Array:
            if not inside:
                counts[name] += _vectors(self, arguments)
            inside.append(name)
            try:
                return original(self, *arguments)
            finally:
                inside.pop()

        return method

    def gradient_stream(self: Manifold, origin: Array) -> GradientStream:
        return _CountedStream(kind.gradient_stream(manifold, origin), origin, manifold, counts)

    kind = type(manifold)
    methods: dict[str, Any] = {
        name: counting(name, getattr(kind, name)) for name in MAPS if hasattr(kind, name)
    }
    counting_kind = type(kind.__name__, (kind,), {**methods, "gradient_stream": gradient_stream})
    made: M = object.__new__(counting_kind)
    made.__dict__.update(vars(manifold))
    return made, counts


class _CountedStream(GradientStream):
    """A stream of the manifold that does not count; counts what it takes to its origin itself."""

    def __init__(
        self, stream: GradientStream, origin: Array, manifold: Manifold, counts: Counter[str]
    ) -> None:
        self._stream, self._origin, self._counts = stream, origin, counts
        self._manifold = manifold

    def add(self, x: Array, g: Array) -> None:
        """Add g, and count it where x is not the origin."""
        if x is not self._origin:
            self._counts["transport"] += _vectors(self._manifold, (x, g))
        self._stream.add(x, g)

    def total(self) -> Array:
        """Return the stream's sum."""
        return self._stream.total()


class _Counted(Problem):
    """A problem on a manifold that counts; its views count what they evaluate, for each client."""

    def __init__(self, problem: Problem, manifold: Manifold) -> None:
        self._problem, self.manifold = problem, manifold
        self.fleet, self.itemsize = problem.fleet, problem.itemsize
        self.spent = np.zeros(problem.fleet.size)

    @property
    def client_bytes(self) -> int:
        return self._problem.client_bytes

    def initial_point(self) -> Array:
        return self._problem.initial_point()

    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> View:
        view = self._problem.view(clients, dispatches, times)
        kind = _CountedLosses if isinstance(view, SampleLosses) else _CountedView
        return kind(view, self.spent)

    def batch_samples(self, size: BatchSize, clients: Ints) -> Floats:
        return self._problem.batch_samples(size, clients)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        return self._problem.evaluate(x, time)


class _CountedView(View):
    """A view that adds to `spent`, shape (N,), the samples that each client evaluates."""

    def __init__(self, view: View, spent: Floats) -> None:
        self.clients, self.dispatches, self.seed = view.clients, view.dispatches, view.seed
        self._view, self._spent = view, spent

    def batches(self, size: Batching, steps: int, versions: Array | None = None) -> Sequence[Batch]:
        return self._view.batches(size, steps, versions)

    def everything(self) -> Batch:
        return self._view.everything()

    def gradient(self, x: Array, batch: Batch) -> Array:
        self._spend(batch)
        return self._view.gradient(x, batch)

    def loss(self, x: Array, batch: Batch) -> Array:
        self._spend(batch)
        return self._view.loss(x, batch)

    def _spend(self, batch: Batch) -> None:
        self._spent[self.clients] += np.count_nonzero(batch.weights, axis=-1)


class _CountedLosses(_CountedView, SampleLosses):
    """The same where samples have losses of their own."""

    def sample_losses(self, x: Array, batch: Batch) -> Array:
        self._spend(batch)
        assert isinstance(self._view, SampleLosses)
        return self._view.sample_losses(x, batch)


def _vectors(manifold: Manifold, arguments: Sequence[Array]) -> int:
    own = len(manifold.shape)
    return prod(np.broadcast_shapes(*(a.shape[: a.ndim - own] for a in arguments)))


def _shared(count: int, clients: int) -> int:
    each, rest = divmod(count, clients)
    if rest:
        raise ValueError(f"{count} vectors are not shared evenly by {clients} clients")
    return each

"""Wrappers: an algorithm that differs from another one only in what is sent.

A payload stands for a tangent vector (`VectorPayload`). A wrapper changes it: where local work
ends, `Altered.alter`, or where the server takes it in, `step`. Everything else is the inner
algorithm's, kernels included: a wrapper's work is the inner one's and then its own, whether the
inner one is done by its `local` or by a kernel.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from driftfold.algorithms.base import (
    Algorithm,
    Arrivals,
    LocalResult,
    Phase,
    Tangent,
    VectorPayload,
)
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import Manifold
from driftfold.registry import kind_of
from driftfold.tasks.base import Problem, View
from driftfold.tasks.batch_size import Batching
from driftfold.trees import map_leaves, node, rows


@node
class WrapperMemory:
    """What a client keeps: the inner algorithm's memory, and the wrapper's own."""

    inner: Any
    own: Any


@dataclass(frozen=True)
class Wrapper(Algorithm[Any]):
    """What wrappers share.

    Attributes
    ----------
    algorithm
        The inner algorithm.
    """

    algorithm: Algorithm[Any]

    @property
    def dropout(self) -> Literal["rollback", "commit"]:  # type: ignore[override]
        """As of the inner algorithm."""
        return self.algorithm.dropout

    @property
    def presumed_probability(self) -> float | None:  # type: ignore[override]
        """As of the inner algorithm."""
        return self.algorithm.presumed_probability

    def needs_whole_work(self) -> str | None:
        """Why no part of a client's work is an answer; None where parts are, if inside they are.

        A part comes as it is, with a weight that is divided by its share of the way (see
        `PartialWork`). Default: it is not known to mean anything.
        """
        return "it does not say what it makes of a part"

    @abstractmethod
    def wrap(self, phase: Phase[Any, Any, Any], number: int, problem: Problem) -> "Altered":
        """Return phase `number` of the inner algorithm, changed."""

    def own_memory(self, problem: Problem) -> Any:
        """What a client keeps for the wrapper at its first visit, or None."""
        return None

    def check(self, problem: Problem) -> None:
        """Check the inner algorithm, and that its payloads stand for vectors here."""
        self.algorithm.check(problem)
        for phase in self.algorithm.phases(problem):
            kind, me = phase.payload_kind, kind_of(self)
            if not issubclass(kind, VectorPayload):
                raise CapabilityError(
                    f"{me} changes tangent vectors, and {kind.__name__}, which "
                    f"{kind_of(self.algorithm)} sends, stands for none; put it around an algorithm "
                    "that sends points or vectors (and compressed around all else)"
                )
            if missing := kind.lacks(problem.manifold):
                raise CapabilityError(
                    f"{me} takes what {kind_of(self.algorithm)} sends as tangent vectors, for "
                    f"which {type(problem.manifold).__name__} lacks {missing}; choose an algorithm "
                    "that sends vectors, for example rfedags"
                )

    def phases(self, problem: Problem) -> Sequence[Phase[Any, Any, Any]]:
        """Return the inner phases, changed."""
        inner = self.algorithm.phases(problem)
        return tuple(self.wrap(phase, number, problem) for number, phase in enumerate(inner))

    def begin(self, problem: Problem, x: Array) -> Any:
        """Begin as the inner algorithm."""
        return self.algorithm.begin(problem, x)

    def model(self, state: Any) -> Array:
        """Return the inner algorithm's model."""
        return self.algorithm.model(state)

    def memory(self, problem: Problem) -> Any:
        """Both memories, or None when there is neither."""
        both = WrapperMemory(self.algorithm.memory(problem), self.own_memory(problem))
        return None if both.inner is None and both.own is None else both

    def evaluate(
        self, problem: Problem, state: Any, memories: Any, time: float
    ) -> Mapping[str, float]:
        """Metrics of the inner algorithm."""
        if memories is not None:
            clients, kept = memories
            memories = None if kept is None or kept.inner is None else (clients, kept.inner)
        return self.algorithm.evaluate(problem, state, memories, time)

    def conventions(self) -> Mapping[str, str]:
        """Those of the inner algorithm."""
        return self.algorithm.conventions()


@dataclass(frozen=True)
class Altered(Phase[Any, Any, Any]):
    """A phase whose payload is changed: what is left to say is `alter`, or `step`.

    Attributes
    ----------
    inner
        The phase that is changed.
    number
        Which of its algorithm's phases it is; the randomness of each is its own.
    problem
        The problem that both are bound to.
    """

    inner: Phase[Any, Any, Any]
    number: int
    problem: Problem

    def alter(
        self, result: LocalResult[Any], download: Any, view: View, own: Any
    ) -> LocalResult[Any]:
        """Change what the inner phase's work gave; `memory` of the result is the wrapper's own."""
        return LocalResult(result.payload, own, result.metrics)

    def local(self, download: Any, view: View, memory: Any, steps: int) -> LocalResult[Any]:
        """Work of the inner phase, changed."""
        kept = WrapperMemory(None, None) if memory is None else memory
        return self._altered(
            self.inner.local(download, view, kept.inner, steps), download, view, memory
        )

    def after(
        self, result: LocalResult[Any], download: Any, view: View, memory: Any
    ) -> LocalResult[Any]:
        """What the inner phase does after a descent, changed."""
        kept = WrapperMemory(None, None) if memory is None else memory
        return self._altered(
            self.inner.after(result, download, view, kept.inner), download, view, memory
        )

    def _altered(
        self, result: LocalResult[Any], download: Any, view: View, memory: Any
    ) -> LocalResult[Any]:
        if memory is None:
            return self.alter(result, download, view, None)
        changed = self.alter(result, download, view, memory.own)
        kept = WrapperMemory(result.memory, changed.memory)
        return LocalResult(changed.payload, kept, changed.metrics)

    @property
    def space(self) -> Manifold:
        """Where the payload is a tangent vector."""
        return self._kind.space(self.problem.manifold)

    def base(self, download: Any) -> Array:
        """Point at which it is one: with the clients' axis, of length 1 where all share it."""
        point = getattr(download, "point", None)
        axes = len(self.problem.manifold.shape)
        if point is not None and point.ndim > axes and len(point) and point.strides[0] == 0:
            download = rows(download, slice(0, 1))
        return self._kind.base(self.problem.manifold, download)

    def vector(self, payload: VectorPayload, x: Array) -> Array:
        """The vector that an inner payload stands for at x."""
        return payload.to_vector(self.problem.manifold, x)

    def payload(self, x: Array, u: Array) -> Any:
        """Inner payload that stands for u at x."""
        return self._kind.from_vector(self.problem.manifold, x, u)

    def taken(self, x: Array, u: Array) -> Any:
        """What `step` of the inner phase takes for u at x; as a vector, no map loses digits."""
        return self.payload(x, u) if self.inner.uses == "payloads" else Tangent(u)

    @property
    def _kind(self) -> type[VectorPayload]:
        return cast("type[VectorPayload]", self.inner.payload_kind)

    @property
    def payload_kind(self) -> type[Any]:
        """As of the inner phase."""
        return self.inner.payload_kind

    @property
    def missed(self) -> Literal["drop", "carry"]:  # type: ignore[override]
        """As of the inner phase."""
        return self.inner.missed

    @property
    def descent(self) -> Literal["stream", "endpoint"] | None:  # type: ignore[override]
        """As of the inner phase."""
        return self.inner.descent

    @property
    def together(self) -> bool:  # type: ignore[override]
        """As of the inner phase."""
        return self.inner.together

    @property
    def groups(self) -> int:  # type: ignore[override]
        """As of the inner phase."""
        return self.inner.groups

    @property
    def uses(self) -> Literal["payloads", "vectors", "sum"]:  # type: ignore[override]
        """As of the inner phase."""
        return self.inner.uses

    @property
    def steps(self) -> int:
        """Local steps of the inner phase."""
        return self.inner.steps

    @property
    def batch(self) -> Batching:
        """Mini-batches of the inner phase."""
        return self.inner.batch

    def broadcast(self, state: Any, version: int) -> Any:
        """Send what the inner phase sends."""
        return self.inner.broadcast(state, version)

    def received(self, download: Any) -> Any:
        """As of the inner phase."""
        return self.inner.received(download)

    def step(
        self, state: Any, arrivals: Arrivals[Any, Any], weights: Floats
    ) -> tuple[Any, Mapping[str, float]]:
        """Step of the inner phase."""
        return self.inner.step(state, arrivals, weights)

    def samples(self, clients: Ints, version: int) -> Floats:
        """Samples of the inner phase."""
        return self.inner.samples(clients, version)

    def download_bytes(self) -> int:
        """Size of the inner download."""
        return self.inner.download_bytes()

    def upload_bytes(self) -> int:
        """Size of the inner payload."""
        return self.inner.upload_bytes()


def layers(algorithm: Algorithm[Any]) -> Iterator[Algorithm[Any]]:
    """An algorithm, what it is put around, and so on inwards.

    >>> from driftfold.algorithms import MIFA, RFedAGS
    >>> [type(layer).__name__ for layer in layers(MIFA(MIFA(RFedAGS())))]
    ['MIFA', 'MIFA', 'RFedAGS']
    """
    yield algorithm
    while isinstance(algorithm, Wrapper):
        algorithm = algorithm.algorithm
        yield algorithm


def lacking(
    algorithm: Algorithm[Any],
    phase: Phase[Any, Any, Any],
    has: Callable[[Phase[Any, Any, Any]], bool],
) -> str:
    """Kind of the algorithm for which a phase lacks something: wrappers may only pass that on.

    >>> from driftfold.algorithms import MIFA, RFedAGS
    >>> from driftfold.data import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks import Pca
    >>> problem = Pca(data=GaussianBlocks(clients=2, samples=3, dimension=4), rank=1).build(Seed(0))
    >>> twice = MIFA(MIFA(RFedAGS()))
    >>> lacking(twice, twice.phases(problem)[0], lambda phase: phase.uses == "sum")
    'mifa'
    """
    while isinstance(algorithm, Wrapper) and isinstance(phase, Altered) and not has(phase.inner):
        algorithm, phase = algorithm.algorithm, phase.inner
    return kind_of(algorithm)


def where(which: Bools, those: Any, others: Any) -> Any:
    """Clients' rows of one tree where `which`, shape (...), else of the other.

    >>> where(np.array([True, False]), np.ones((2, 1)), np.zeros((2, 1))).tolist()
    [[1.0], [0.0]]
    """

    def leaf(a: Array, b: Array) -> Array:
        return np.where(which.reshape(which.shape + (1,) * (b.ndim - which.ndim)), a, b)

    return map_leaves(leaf, those, others)

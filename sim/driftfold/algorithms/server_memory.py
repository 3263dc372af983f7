"""Servers that remember the last vector of each client seen, in the present tangent space.

y_i is what client i last sent. After each step of the server all of them are transported from x_t
to x_{t+1}: one batched transport of the clients seen so far. Transporting a vector only when its
client comes back would save nothing where the mean of all y_j is wanted in every round: on curved
spaces the way round makes a difference, so the mean could not be carried along by itself.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from driftfold.algorithms.base import Arrivals, Phase
from driftfold.algorithms.wrapped import Altered, Wrapper, lacking, layers
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.combinations.aggregation import weighted_sum
from driftfold.errors import CapabilityError
from driftfold.registry import kind_of
from driftfold.tasks.base import Problem
from driftfold.trees import node, spread


@node
class Remembering:
    """Server state: the inner one, the clients seen, (m,), ascending, and their y_i at x_t."""

    inner: Any
    clients: Ints
    vectors: Array

    def of(self, clients: Ints) -> Array:
        """Return y_i of `clients`, shape (k, *shape); 0 where nothing was ever sent."""
        place, known = self._find(clients)
        found = np.zeros((len(clients), *self.vectors.shape[1:]), self.vectors.dtype)
        found[known] = self.vectors[place[known]]
        return found

    def learning(self, clients: Ints, vectors: Array) -> "Remembering":
        """Return the state that remembers `vectors` of `clients`, ascending; of several the last.

        >>> state = Remembering(None, np.array([4]), np.ones((1, 2)))
        >>> more = state.learning(np.array([1, 1]), np.array([[2.0, 2.0], [3.0, 3.0]]))
        >>> more.of(np.array([1, 4, 5]))[:, 0]
        array([3., 1., 0.])
        """
        last = np.ones(len(clients), dtype=bool)
        last[:-1] = clients[1:] != clients[:-1]
        clients, vectors = clients[last], vectors[last]
        place, known = self._find(clients)
        kept = self.vectors.copy()
        kept[place[known]] = vectors[known]
        new = ~known
        return replace(
            self,
            clients=np.insert(self.clients, place[new], clients[new]),
            vectors=np.insert(kept, place[new], vectors[new], axis=0),
        )

    def mean(self, importance: Floats) -> Array:
        """Sum of a_j y_j over the clients seen, a_j of all clients given, shape (N,)."""
        return weighted_sum(importance[self.clients], self.vectors)

    def _find(self, clients: Ints) -> tuple[Ints, Bools]:
        place = np.searchsorted(self.clients, clients)
        known = np.zeros(len(clients), dtype=bool)
        inside = place < len(self.clients)
        known[inside] = self.clients[place[inside]] == clients[inside]
        return place, known


@dataclass(frozen=True)
class ServerMemory(Wrapper):
    """What the algorithms share whose server remembers what clients last sent.

    Attributes
    ----------
    algorithm
        The inner algorithm, which says what clients send and how the server steps along a vector.
    """

    def check(self, problem: Problem) -> None:
        """Require one exchange a round, whose vectors the server adds."""
        super().check(problem)
        me, phases = kind_of(self), self.algorithm.phases(problem)
        if len(phases) > 1:
            *_, innermost = layers(self)
            raise CapabilityError(
                f"{me} remembers what clients send in one exchange a round, and "
                f"{kind_of(innermost)} has {len(phases)}; choose an algorithm with one, for "
                "example rfedags"
            )
        if phases[0].uses != "sum":
            who = lacking(self.algorithm, phases[0], lambda phase: phase.uses == "sum")
            raise CapabilityError(
                f"{me} says itself how vectors are combined, and {who} does not take their sum; "
                "choose combine 'weighted_sum', or another algorithm, for example rfedags"
            )
        phase, rule = phases[0], self.algorithm
        while isinstance(phase, Altered) and isinstance(rule, Wrapper):
            if type(phase).step is not Altered.step:
                # It would count one client where many took part: for privacy, a wrong epsilon.
                raise CapabilityError(
                    f"{me} hands its server one vector for all, and that of {kind_of(rule)} wants "
                    f"each client's own; put {kind_of(rule)} around {me}, not inside"
                )
            phase, rule = phase.inner, rule.algorithm

    def needs_whole_work(self) -> str:
        """Weights do not enter what is remembered, so a part would stand for a whole way."""
        return "its server remembers what was sent, and would take a part for the whole way"

    @abstractmethod
    def wrap(self, phase: Phase[Any, Any, Any], number: int, problem: Problem) -> "FromMemory":
        """Return the phase whose server remembers."""

    def begin(self, problem: Problem, x: Array) -> Remembering:
        """Begin as the inner algorithm; nobody has been seen."""
        nothing = np.zeros((0, *x.shape), dtype=x.dtype)
        return Remembering(self.algorithm.begin(problem, x), np.empty(0, np.int64), nothing)

    def model(self, state: Remembering) -> Array:
        """Return the inner algorithm's model."""
        return self.algorithm.model(state.inner)

    def evaluate(
        self, problem: Problem, state: Remembering, memories: Any, time: float
    ) -> Mapping[str, float]:
        """Metrics of the inner algorithm."""
        return super().evaluate(problem, state.inner, memories, time)


@dataclass(frozen=True)
class FromMemory(Altered):
    """An exchange whose server steps along what it remembers and hears: left to say is `direct`.

    Attributes
    ----------
    rule
        The algorithm.
    """

    rule: ServerMemory

    @abstractmethod
    def direct(
        self, state: Remembering, clients: Ints, weights: Floats, vectors: Array
    ) -> tuple[Array, Remembering]:
        """The round's vector v at x_t, from `vectors` at x_t, and the state that has learnt."""

    @property
    def uses(self) -> Literal["vectors"]:  # type: ignore[override]
        """Each client's own vector."""
        return "vectors"

    def broadcast(self, state: Remembering, version: int) -> Any:
        """Send what the inner phase sends."""
        return self.inner.broadcast(state.inner, version)

    def step(
        self, state: Remembering, arrivals: Arrivals[Any, Any], weights: Floats
    ) -> tuple[Remembering, Mapping[str, float]]:
        """Step of the inner phase along v, as if one client had sent it; then carry all y_i."""
        model, base = self.rule.algorithm.model, self.base(arrivals.download)
        x, u = model(state.inner), self.vector(arrivals.payload, base)
        if arrivals.stale.any():
            u = self.space.transport(base, x, u)
        v, learnt = self.direct(state, arrivals.clients, weights, u)
        version = arrivals.versions.max(keepdims=True)
        alone = Arrivals(
            clients=arrivals.clients[:1],
            payload=self.taken(x[None], v[None]),
            download=spread(self.inner.broadcast(state.inner, int(version[0])), 1),
            versions=version,
            stale=np.zeros(1, dtype=bool),
        )
        new, metrics = self.inner.step(state.inner, alone, np.ones(1))
        y = self.space.transport(x, model(new), learnt.vectors)
        told = {**metrics, "remembered": float(len(learnt.clients))}
        return replace(learnt, inner=new, vectors=y), told

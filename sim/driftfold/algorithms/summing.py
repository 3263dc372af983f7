"""Phases whose server step needs nothing of the payloads but their sum."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar, final

from driftfold.algorithms.base import Arrivals, Phase
from driftfold.arrays import Array, Floats
from driftfold.combinations.aggregation import RunningSum, weighted_sum

S = TypeVar("S")
D = TypeVar("D")
P = TypeVar("P")


class Summing(Phase[S, D, P]):
    """A phase whose server step needs of the payloads only sum_i w_i (v_i - b_i).

    So they need not be held together: the server may have them worked out, and added, some at a
    time, in ascending order of client id. The sum is the same to the last bit.
    """

    @abstractmethod
    def summands(self, arrivals: Arrivals[D, P]) -> tuple[Array, Array | None]:
        """The v_i (k, m), and the b_i (k, m) if there are any."""

    @abstractmethod
    def advance(self, state: S, total: Array) -> tuple[S, Mapping[str, float]]:
        """New server state and metrics, from the sum (m,), in the type of the v_i."""

    @final
    def step(
        self, state: S, arrivals: Arrivals[D, P], weights: Floats
    ) -> tuple[S, Mapping[str, float]]:
        """Sum, and advance."""
        vectors, bases = self.summands(arrivals)
        return self.advance(state, weighted_sum(weights, vectors, bases))

    @final
    def add(self, total: RunningSum, arrivals: Arrivals[Any, Any], weights: Floats) -> None:
        """Add some arrivals to the sum so far."""
        vectors, bases = self.summands(arrivals)
        total.add(weights, vectors, bases)

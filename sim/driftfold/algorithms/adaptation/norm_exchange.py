"""What adaptations of batch normalisations have in common: which numbers move, who shares them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Adapting
from driftfold.algorithms.adaptation.splitting import Server
from driftfold.algorithms.base import Arrivals
from driftfold.arrays import Array, Bools, Floats
from driftfold.combinations.aggregation import weighted_sum
from driftfold.errors import CapabilityError
from driftfold.registry import kind_of
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import node


@node
class Numbers:
    """The numbers that move, of the normalisations alone; none where nothing is shared."""

    values: Array


@node
class Normed(Adapted):
    """What a client keeps: its own numbers, and what its steps remember."""

    values: Array
    of_steps: Any


@dataclass(frozen=True)
class NormAdaptation(Adaptation):
    """Some numbers of the batch normalisations move; all else is as it was trained.

    Attributes
    ----------
    federated
        Whether clients start from the mean of all, and send what they make of it; else each goes on
        from its own and nothing is sent.
    """

    federated: bool = False

    def check(self, problem: Problem) -> None:
        """Require streams, and a net with batch normalisation."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        if not problem.model.norms:
            raise CapabilityError(
                f"algorithm '{kind_of(self)}' adapts batch normalisations, and this net has none; "
                "give it some (net.batch_norm = true for an 'mlp'), or choose another net"
            )
        if problem.stream.size < 2:
            raise CapabilityError(
                f"algorithm '{kind_of(self)}' needs the statistics of a batch, and a batch of "
                f"{problem.stream.size} has none; raise task.batch to 2 or more"
            )

    @abstractmethod
    def which(self, problem: StreamProblem) -> Bools:
        """Numbers that move, shape (P,)."""

    def steps_memory(self, problem: StreamProblem) -> Any:
        """What steps remember before the first. Default: nothing."""
        return None

    def begin(self, problem: Problem, x: Array) -> Server:
        """Start from the trained model."""
        return Server(x)

    def model(self, state: Server) -> Array:
        """The trained model with the mean of what clients sent."""
        return state.theta

    def memory(self, problem: Problem) -> Normed:
        """Return the trained numbers."""
        assert isinstance(problem, StreamProblem)
        own = problem.source.start[self.which(problem)]
        return Normed(super().memory(problem).ledger, own, self.steps_memory(problem))

    def now(self, problem: StreamProblem, values: Array) -> Array:
        """Parameters (k, P) of clients whose normalisations have these numbers."""
        theta = np.repeat(problem.source.start[None], len(values), axis=0)
        theta[:, self.which(problem)] = values
        return theta

    def present(
        self, problem: StreamProblem, state: Server, memory: Normed, view: StreamView
    ) -> Array:
        """Parameters (k, P) with which clients meet their next batch."""
        if self.federated:
            return np.repeat(state.theta[None], len(view.clients), axis=0)
        return self.now(problem, memory.values)


@dataclass(frozen=True)
class NormExchange(Adapting):
    """The one exchange: the numbers come down where they are shared, and go up again."""

    algorithm: NormAdaptation
    payload_kind = Numbers

    @cached_property
    def which(self) -> Bools:
        """Numbers that move, shape (P,)."""
        return self.algorithm.which(self.problem)

    def broadcast(self, state: Server, version: int) -> Numbers:
        """Send the mean, if it is shared."""
        return Numbers(self.sent(state.theta[self.which]))

    def sent(self, values: Array) -> Array:
        """The numbers, or none of them."""
        return values if self.algorithm.federated else values[..., :0]

    def met(self, download: Numbers, memory: Normed) -> Array:
        """Parameters (k, P) with which clients meet the batch."""
        values = download.values if self.algorithm.federated else memory.values
        return self.algorithm.now(self.problem, values)

    def step(
        self, state: Server, arrivals: Arrivals[Numbers, Numbers], weights: Floats
    ) -> tuple[Server, Mapping[str, float]]:
        """Average what is shared."""
        if not self.algorithm.federated:
            return state, {}
        ways = arrivals.payload.values - arrivals.download.values
        theta = state.theta.copy()
        theta[self.which] += weighted_sum(weights, ways).astype(theta.dtype)
        return Server(theta), {}

    def download_bytes(self) -> int:
        """The numbers, if they are shared."""
        return int(self.which.sum()) * self.problem.itemsize * self.algorithm.federated

    def upload_bytes(self) -> int:
        """As many."""
        return self.download_bytes()

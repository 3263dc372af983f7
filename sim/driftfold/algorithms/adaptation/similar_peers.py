"""Who to average with: Fed-ADE whose clients get the mean of those that answer alike.

After the idea of FedCTTA (arXiv 2505.13643): instead of features, clients show what their models
say of common random noise. With o_c the probabilities of client c's model on those inputs, one
after the other in one vector, client c gets the body

    psi_c = sum_j A_cj psi_j,    A_cj = softmax_j(cos(o_c, o_j) / tau).

The rows of A add up to 1: tau -> infinity is the one mean of Fed-ADE, and tau -> 0 leaves each with
its own. The paper's abstract has the idea alone; rule and constants are ours. Drift-aware, the
weight of j is multiplied by 1 - S_j: whose data have just moved counts for less.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.adaptation.base import Adaptation, Adapting
from driftfold.algorithms.adaptation.fedade import Exchange, FedADE, Own
from driftfold.algorithms.adaptation.splitting import Body
from driftfold.algorithms.base import Arrivals, LocalResult
from driftfold.arrays import Array, Floats, Ints
from driftfold.errors import CapabilityError, SpecError
from driftfold.lanes import in_whole_vectors
from driftfold.rates.adaptive import Adaptive
from driftfold.registry import kind_of, register
from driftfold.softmax import softmax
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import node


@node
class Bodies:
    """Server state, and download: psi_c of every client, shape (N, s), and the trained model."""

    shared: Array
    theta: Array


@node
class Shown:
    """What a client sends: its body, what it says of the noise, and S where that counts."""

    shared: Array
    said: Array
    signal: Array


@register("similar_peers")
@dataclass(frozen=True)
class SimilarPeers(Adaptation):
    """Fed-ADE whose server makes a body for each client, of those whose outputs are like its own.

    Clients that are not there keep what they have; the server keeps N bodies.

    Attributes
    ----------
    algorithm
        What clients do.
    temperature
        tau; "infinite": all alike, however similar.
    noise_inputs
        How many noise inputs there are, with the mean and the spread of the reference examples.
    drift_aware
        Whether weights are multiplied by 1 - S_j; it needs the rate `adaptive`, which measures S.
    """

    algorithm: FedADE = field(default_factory=FedADE)
    temperature: Annotated[float, Gt(0)] | Literal["infinite"] = 0.1
    noise_inputs: Annotated[int, Gt(0)] = 64
    drift_aware: bool = False

    def check(self, problem: Problem) -> None:
        """Require what Fed-ADE requires, bodies that move, and a signal where it counts."""
        self.algorithm.check(problem)
        if not self.algorithm.shared_steps:
            raise SpecError(
                "algorithm 'similar_peers' averages bodies, and with shared_steps = 0 clients send "
                "none; give algorithm.shared_steps at least 1"
            )
        if not self.algorithm.federated:
            raise SpecError(
                "algorithm 'similar_peers' averages bodies, and with federated = false clients "
                "send none; give algorithm.federated = true"
            )
        if self.drift_aware and not isinstance(self.algorithm.rate, Adaptive):
            raise CapabilityError(
                f"algorithm 'similar_peers' with drift_aware weighs by the signal S, which rate "
                f"'{kind_of(self.algorithm.rate)}' does not measure; choose rate 'adaptive'"
            )

    def phases(self, problem: Problem) -> "Sequence[Adapting]":
        """Those of Fed-ADE, each with a client's own body."""
        assert isinstance(problem, StreamProblem)
        first, second = self.algorithm.phases(problem)
        return (Showing(self, problem, first), Receiving(self, problem, second))

    def begin(self, problem: Problem, x: Array) -> Bodies:
        """Start everybody from the trained model."""
        assert isinstance(problem, StreamProblem)
        body = x[~self.algorithm.own(problem)]
        return Bodies(np.repeat(body[None], problem.fleet.size, axis=0), x)

    def model(self, state: Bodies) -> Array:
        """The trained head behind the mean of all bodies."""
        return state.theta

    def memory(self, problem: Problem) -> Own:
        """As of Fed-ADE."""
        return self.algorithm.memory(problem)

    def scores(self, problem: StreamProblem, state: Bodies, memory: Own, view: StreamView) -> Array:
        """Logits of each client's own body and head."""
        own = self.algorithm.own(problem)
        theta = np.empty((len(view.clients), problem.model.layout.size), state.theta.dtype)
        theta[:, ~own], theta[:, own] = state.shared[view.clients], memory.personal
        return problem.model.forward(theta, view.inputs).logits

    def weights(self, said: Array, signal: Floats, given: Floats) -> Floats:
        """A, shape (k, k), of outputs (k, m), signals (k,) or (k, 0), and the estimator's weights.

        >>> said = np.array([[1.0, 0.0], [0.0, 1.0]])
        >>> SimilarPeers(temperature=1.0).weights(said, np.empty((2, 0)), np.ones(2)).round(6)
        array([[0.731059, 0.268941],
               [0.268941, 0.731059]])
        """
        logs = np.zeros((len(said), len(said)))
        if self.temperature != "infinite":
            units = said / np.sqrt((said * said).sum(axis=1, keepdims=True))
            logs = units @ units.T / self.temperature
            np.fill_diagonal(logs, 1 / self.temperature)  # no rounding is to make another likelier
        like = in_whole_vectors(np.exp, logs - logs.max(axis=1, keepdims=True))
        factors = given * (1 - signal[:, 0]) if signal.shape[1] else given
        a = like * factors
        total = a.sum(axis=1, keepdims=True)
        # Where nobody counts, as with S = 1 everywhere, a client keeps its own.
        own = np.eye(len(a))
        made: Floats = np.where(total > 0, a / np.where(total > 0, total, 1.0), own)
        return made


@dataclass(frozen=True)
class PeerExchange(Adapting):
    """An exchange of Fed-ADE in which each client has a body of its own."""

    algorithm: SimilarPeers
    inner: Exchange
    together = False  # a download has a row for each client of the fleet

    @property
    def steps(self) -> int:
        """As of Fed-ADE."""
        return self.inner.steps

    def broadcast(self, state: Bodies, version: int) -> Body:
        """Send psi_c to each."""
        return Body(state.shared)

    def received(self, download: Body) -> Body:
        """A client's own row."""
        return Body(download.shared[0])

    def row(self, download: Body, clients: Ints) -> Body:
        """Bodies (k, s) of k clients, of tables (k, N, s)."""
        return Body(download.shared[np.arange(len(clients)), clients])

    def samples(self, clients: Ints, version: int) -> Floats:
        """As of Fed-ADE."""
        return self.inner.samples(clients, version)

    def download_bytes(self) -> int:
        """The body."""
        return self.inner.download_bytes()


@dataclass(frozen=True)
class Showing(PeerExchange):
    """First exchange: bodies go up, and what models say of the noise."""

    payload_kind = Shown

    def adapt(
        self, download: Body, view: StreamView, memory: Own, steps: int
    ) -> LocalResult[Shown]:
        """Work as in Fed-ADE, and answer to the noise."""
        done = self.inner.adapt(self.row(download, view.clients), view, memory, steps)
        theta = self.inner.joined(done.payload.shared, done.memory.personal)
        logits = self.problem.model.forward(theta, self.noise).logits
        said = softmax(logits).reshape(len(theta), -1)
        signal = np.empty((len(theta), 0))
        if self.algorithm.drift_aware:
            signal = done.metrics["signal"][:, None]
        return LocalResult(Shown(done.payload.shared, said, signal), done.memory, done.metrics)

    @cached_property
    def noise(self) -> Array:
        """Inputs that are the same for everybody, shape (m, *inputs)."""
        model, reference = self.problem.model, self.problem.source.reference
        shape = (self.algorithm.noise_inputs, *model.inputs)
        drawn = self.problem.fleet.seed.stream("peer noise").normal(0, 0, int(np.prod(shape)))
        spread, middle = float(reference.std()), float(reference.mean())
        noise: Array = (middle + spread * drawn.reshape(shape)).astype(model.dtype)
        return noise

    def step(
        self, state: Bodies, arrivals: Arrivals[Body, Shown], weights: Floats
    ) -> tuple[Bodies, Mapping[str, float]]:
        """psi_c = sum_j A_cj psi_j for those who sent; of one who sent twice the last counts."""
        sent = arrivals.payload
        a = self.algorithm.weights(sent.said.astype(np.float64), sent.signal, weights)
        shared, theta = state.shared.copy(), state.theta.copy()
        shared[arrivals.clients] = (a @ sent.shared.astype(np.float64)).astype(shared.dtype)
        theta[~self.inner.own] = shared[0] + (shared - shared[0]).mean(axis=0, dtype=np.float64)
        return Bodies(shared, theta), {"own_weight": float(np.diag(a).mean())}

    def upload_bytes(self) -> int:
        """The body, the probabilities, and a signal."""
        said = self.algorithm.noise_inputs * self.problem.model.classes * self.problem.itemsize
        return self.inner.upload_bytes() + said + 8 * self.algorithm.drift_aware


@dataclass(frozen=True)
class Receiving(PeerExchange):
    """Second exchange: each client's body comes down."""

    @property
    def payload_kind(self) -> Any:
        """Nothing."""
        return self.inner.payload_kind

    def adapt(self, download: Body, view: StreamView, memory: Own, steps: int) -> LocalResult[Any]:
        """Work as in Fed-ADE."""
        return self.inner.adapt(self.row(download, view.clients), view, memory, steps)

    def step(
        self, state: Bodies, arrivals: Arrivals[Body, Any], weights: Floats
    ) -> tuple[Bodies, Mapping[str, float]]:
        """The bodies stay."""
        return state, {}

    def upload_bytes(self) -> int:
        """Nothing."""
        return 0

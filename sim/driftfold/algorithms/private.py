"""Private uploads: vectors of bounded length, and Gaussian noise.

McMahan, Ramage, Talwar, Zhang: "Learning differentially private recurrent language models", ICLR
2018 (client level, in the sum); Abadi et al.: "Deep learning with differential privacy", CCS 2016.
Lengths are those of the metric at x_t; noise is independent in the coordinates of an orthonormal
frame of T_{x_t} M (Reimherr, Bharath, Soto: "Differential privacy over Riemannian manifolds",
NeurIPS 2021, have it on the manifold itself).

What is protected is a client with all its data. Two fleets are neighbours if all that one client
sends is replaced: in the sum by nothing, with the weights of the others unchanged; at the client by
what any other client might send.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt, Interval, Lt

from driftfold.algorithms.accounting import epsilon, require_accountant
from driftfold.algorithms.base import Arrivals, LocalResult, Phase
from driftfold.algorithms.wrapped import Altered, Wrapper, lacking, where
from driftfold.arrays import Array, Bools, Floats, Ints, along
from driftfold.errors import CapabilityError, SpecError
from driftfold.manifolds.tangent_noise import framed_space, tangent_noise
from driftfold.registry import register
from driftfold.tasks.base import Problem, View
from driftfold.telemetry.metrics import merge
from driftfold.trees import node


@node
class PrivateState:
    """Server state: the inner one, and how often each client's data were used.

    `uses` has shape (N,): exchanges in which a client's payload was taken in. `sums` counts the
    exchanges that gave a sum, shape ().
    """

    inner: Any
    uses: Ints
    sums: Ints


@register("private")
@dataclass(frozen=True)
class Private(Wrapper):
    """An algorithm whose vectors are clipped to length C and sent, or summed, with noise.

    The metric `epsilon` tells at each evaluation for how much privacy that was enough, at `delta`,
    for the client that took part most often. Without `presumed_probability` it counts on no
    amplification by sampling: who took part is taken to be known. With it, clients are presumed to
    take part with at most that probability, independently in each round and unseen by those who see
    the models (participation "bernoulli" and weights that do not depend on who else takes part; a
    round in which nobody does makes no sum and tells so, which is not accounted for).

    Attributes
    ----------
    algorithm
        The inner algorithm.
    clip
        C, the length in the metric to which longer vectors are cut.
    noise
        sigma, the noise multiplier; 0 adds none.
    where
        "server": the server, trusted with the vectors, clips and adds noise of standard deviation
        sigma times the sensitivity C max_i w_i to each coordinate of their weighted sum. "client":
        each client clips and adds noise of standard deviation sigma C before it sends; the server
        need not be trusted. Two vectors are up to 2 C apart, so its multiplier counts half.
    max_weight
        With "server", the largest w_i / a_i (a_i the client's importance, mostly 1/N); larger
        weights are cut, so that the sensitivity is C max_weight max_i a_i.
    delta
        For which epsilon is told; "none" tells none.
    presumed_probability
        With "server", a bound on the probability with which a client takes part, or None.
    """

    clip: Annotated[float, Gt(0)] = 1.0
    noise: Annotated[float, Interval(ge=0, le=1e6)] = 1.0
    where: Literal["server", "client"] = "server"
    max_weight: Annotated[float, Gt(0)] = 10.0
    delta: Annotated[float, Interval(gt=0, lt=1)] | Literal["none"] = 1e-5
    presumed_probability: Annotated[float, Gt(0), Lt(1)] | None = None

    def __post_init__(self) -> None:
        if self.where == "client" and self.presumed_probability is not None:
            raise SpecError(
                "presumed_probability amplifies the privacy of sums, and with where = 'client' the "
                "server sees each client's own vectors; leave it out, or choose where = 'server'"
            )

    def check(self, problem: Problem) -> None:
        """Require frames for noise, and for noise in the sum a server that forms one."""
        super().check(problem)
        self._check_nested()
        if self.delta != "none":
            require_accountant()
        for phase in self.phases(problem):
            assert isinstance(phase, Altered)
            framed_space(phase.space, "noise for privacy")
            if self.where == "server" and phase.uses != "sum":
                who = lacking(self, phase, lambda phase: phase.uses == "sum")
                raise CapabilityError(
                    "private adds noise at the server, which is meant for a weighted sum of "
                    f"vectors, and {who} as configured forms none; choose combine 'weighted_sum', "
                    "or where = 'client'"
                )

    def _check_nested(self) -> None:
        """Require of private inside private that not both tell the same."""
        inner: Any = self.algorithm
        while isinstance(inner, Wrapper):
            if isinstance(inner, Private):
                if self.where == inner.where == "server":
                    raise CapabilityError(
                        "private is put around private, and both add noise at the server; leave "
                        "one of them out"
                    )
                if self.delta != "none" and inner.delta != "none":
                    raise CapabilityError(
                        "private is put around private, and both would tell epsilon; set delta to "
                        "'none' in one of them"
                    )
            inner = inner.algorithm

    def needs_whole_work(self) -> None:
        """Parts are clipped as all vectors are, and noise covers what their weights are cut to."""
        return

    def wrap(self, phase: Phase[Any, Any, Any], number: int, problem: Problem) -> Altered:
        """Return the phase with clipping and noise."""
        return (NoisySum if self.where == "server" else NoisyUploads)(phase, number, problem, self)

    def begin(self, problem: Problem, x: Array) -> PrivateState:
        """Nothing used yet."""
        uses = np.zeros(problem.fleet.size, dtype=np.int64)
        return PrivateState(self.algorithm.begin(problem, x), uses, np.array(0))

    def model(self, state: PrivateState) -> Array:
        """Return the inner algorithm's model."""
        return self.algorithm.model(state.inner)

    def evaluate(
        self, problem: Problem, state: PrivateState, memories: Any, time: float
    ) -> Mapping[str, float]:
        """Metrics of the inner algorithm, and epsilon."""
        inner = super().evaluate(problem, state.inner, memories, time)
        if self.delta == "none":
            return inner
        exchanges = len(self.algorithm.phases(problem))
        return merge(inner, {"epsilon": self.spent(state, exchanges)})

    def spent(self, state: PrivateState, exchanges: int = 1) -> float:
        """Epsilon at `delta` after all that the state has seen, in rounds of so many exchanges."""
        assert self.delta != "none"
        if self.presumed_probability is not None:
            # One draw of clients serves all sums of a round: they count as one sum with less noise.
            rounds = -(-int(state.sums) // exchanges)
            multiplier = self.noise / exchanges**0.5
            return epsilon(multiplier, rounds, self.delta, self.presumed_probability)
        most = int(state.uses.max(initial=0))
        return epsilon(self.noise / (1 if self.where == "server" else 2), most, self.delta)

    def clipped(self, length: Floats) -> tuple[Bools, Floats]:
        """Which vectors are longer than C, and the factors that cut them to it."""
        long = length > self.clip
        return long, np.where(long, self.clip / np.where(long, length, 1), 1)


@dataclass(frozen=True)
class Clipping(Altered):
    """What both exchanges share: the count of uses."""

    wrapper: Private

    def broadcast(self, state: PrivateState, version: int) -> Any:
        """Send what the inner phase sends."""
        return self.inner.broadcast(state.inner, version)

    def step(
        self, state: PrivateState, arrivals: Arrivals[Any, Any], weights: Floats
    ) -> tuple[PrivateState, Mapping[str, float]]:
        """Step of the inner phase, and count whose data it used."""
        inner, metrics = self.inner.step(state.inner, arrivals, weights)
        uses = state.uses.copy()
        uses[arrivals.clients] += 1
        return PrivateState(inner, uses, np.array(state.sums + 1)), metrics


class NoisyUploads(Clipping):
    """Clients clip and add noise."""

    def alter(
        self, result: LocalResult[Any], download: Any, view: View, own: Any
    ) -> LocalResult[Any]:
        """C u / max(C, |u|) + sigma C n, n standard normal in an orthonormal frame."""
        rule, x, space = self.wrapper, self.base(download), self.space
        u = self.vector(result.payload, x)
        long, factors = rule.clipped(space.norm(x, u))
        v = u * along(factors, u).astype(u.dtype)
        if rule.noise:
            stream = view.stream(f"private/{self.number}")
            v = v + tangent_noise(
                framed_space(space, "noise for privacy"),
                x,
                rule.noise * rule.clip,
                lambda count: stream.normal(view.clients, view.dispatches, count),
                u.dtype,
            )
        changed = long | (rule.noise > 0)
        payload = where(np.asarray(changed), self.payload(x, v), result.payload)
        return LocalResult(payload, own, result.metrics)


class NoisySum(Clipping):
    """The server clips, and adds noise to the sum."""

    def step(
        self, state: PrivateState, arrivals: Arrivals[Any, Any], weights: Floats
    ) -> tuple[PrivateState, Mapping[str, float]]:
        """Step of the inner phase on v_i + n / sum_j w_j, which sum to sum_j w_j v_j + n.

        v_i are the clipped vectors, w_i the cut weights. Vectors that are stale are carried to x_t
        before they are clipped, unless a cohort steps from where it began.
        """
        rule, space, fleet = self.wrapper, self.space, self.problem.fleet
        if arrivals.stale.any() and self.groups == 1:  # else they are of one download
            arrivals = self._carried(state, arrivals)
        x = self.base(arrivals.download)
        u = self.vector(arrivals.payload, x)
        long, factors = rule.clipped(space.norm(x, u))
        weights = np.minimum(weights, rule.max_weight * fleet.importance[arrivals.clients])
        v = u * along(factors, u).astype(u.dtype)
        std = rule.noise * rule.clip * rule.max_weight * float(fleet.importance.max())
        if std:
            stream = fleet.seed.stream(f"private.sum/{self.number}")
            v = v + tangent_noise(
                framed_space(space, "noise for privacy"),
                x[:1],
                std / float(weights.sum()),
                lambda count: stream.normal(0, int(state.sums), count)[None],
                u.dtype,
            )
        new, metrics = super().step(state, replace(arrivals, payload=self.taken(x, v)), weights)
        which = f".{self.number}" if self.number else ""
        told = {f"clipped{which}": float(long.mean()), f"noise_std{which}": std}
        return new, merge(metrics, told)

    def _carried(self, state: PrivateState, arrivals: Arrivals[Any, Any]) -> Arrivals[Any, Any]:
        """Arrivals as if all had been computed from the present iterate."""
        now = self.inner.broadcast(state.inner, int(arrivals.versions.max())).point
        download = replace(
            arrivals.download, point=np.broadcast_to(now, (len(arrivals.clients), *now.shape))
        )
        old, x = self.base(arrivals.download), self.base(download)
        u = self.space.transport(old, x, self.vector(arrivals.payload, old))
        return replace(
            arrivals,
            payload=self.taken(x, u),
            download=download,
            stale=np.zeros_like(arrivals.stale),
        )

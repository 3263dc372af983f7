"""FedAT: one model for each tier of speed; the server's is their mean, the rarer the heavier.

Chai, Z., Chen, Y., Anwar, A., Zhao, L., Cheng, Y., Rangwala, H.: "FedAT: A High-Performance and
Communication-Efficient Federated Learning System with Asynchronous Tiers", SC 2021, Algorithm 1.
When a round of tier m = 1, ..., M is done,

    w_m <- the inner algorithm's step from the model that the round began with,    T_m <- T_m + 1,
    x <- sum_m lambda_m w_m,    lambda_m = T_{M+1-m} / sum_j T_j,

T_m being the rounds of tier m so far: the slowest tier, with the fewest rounds, has the weight of
the fastest, with the most. On a manifold the mean is taken in the tangent space of the present
point. As published, nothing moves before a tier has had a round whose mirror image it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.base import Arrivals, Phase
from driftfold.algorithms.local_steps import ServerPoint
from driftfold.algorithms.wrapped import Altered, Wrapper
from driftfold.arrays import Array, Floats, Ints
from driftfold.combinations.aggregation import weighted_sum
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import InvertibleRetraction
from driftfold.registry import kind_of, register
from driftfold.tasks.base import Problem
from driftfold.telemetry.metrics import merge
from driftfold.trees import node


@node
class TierModels:
    """Server state: the inner one at x, each tier's model w_m, (M, *shape), and T_m, (M,)."""

    inner: Any
    models: Array
    rounds: Ints


@register("fedat")
@dataclass(frozen=True)
class FedAT(Wrapper):
    """An algorithm whose tiers of equal speed work apart; it needs cadence 'asynchronous_tiers'.

    Attributes
    ----------
    algorithm
        The inner algorithm, which says how a tier's round goes from the server's model to the
        tier's; as published `rfedprox`.
    tiers
        Number of tiers M, that of the cadence.
    """

    tiers: Annotated[int, Gt(0)] = 5

    def check(self, problem: Problem) -> None:
        """Require one exchange from a point, a server without moments, an inverse retraction."""
        super().check(problem)
        me, inner = kind_of(self), kind_of(self.algorithm)
        begun = self.algorithm.begin(problem, problem.initial_point())
        if len(self.algorithm.phases(problem)) > 1 or not isinstance(begun, ServerPoint):
            raise CapabilityError(
                f"{me} keeps a point for each tier, and the server of {inner} keeps more, or has "
                "several exchanges a round; choose another algorithm, for example rfedavg"
            )
        if begun.moments is not None:
            raise CapabilityError(
                f"{me} moves the server's point from tier to tier, which the moments of {inner}'s "
                "server do not follow; choose server 'descend'"
            )
        if not isinstance(problem.manifold, InvertibleRetraction):
            raise CapabilityError(
                f"{me} takes the mean of models by an inverse retraction, which "
                f"{type(problem.manifold).__name__} lacks; choose another retraction"
            )

    def needs_whole_work(self) -> None:
        """A tier's step is the inner algorithm's."""
        return

    def wrap(self, phase: Phase[Any, Any, Any], number: int, problem: Problem) -> "TierRound":
        """Return the exchange of one tier."""
        return TierRound(phase, number, problem, self)

    def begin(self, problem: Problem, x: Array) -> TierModels:
        """Begin as the inner algorithm, with x for the model of every tier."""
        models = np.repeat(x[None], self.tiers, axis=0)
        inner = self.algorithm.begin(problem, x)
        return TierModels(inner, models, np.zeros(self.tiers, np.int64))

    def model(self, state: TierModels) -> Array:
        """Return the mean of the tiers' models."""
        return self.algorithm.model(state.inner)

    def conventions(self) -> Mapping[str, str]:
        """How much each tier's model counts."""
        weight = "lambda_m = T_{M+1-m} / sum_j T_j; T_m = rounds of tier m, the present one too"
        return {**super().conventions(), "tier_weight": weight}

    def evaluate(
        self, problem: Problem, state: TierModels, memories: Any, time: float
    ) -> Mapping[str, float]:
        """Metrics of the inner algorithm."""
        return super().evaluate(problem, state.inner, memories, time)


@dataclass(frozen=True)
class TierRound(Altered):
    """A round of one tier."""

    rule: FedAT

    @property
    def groups(self) -> int:  # type: ignore[override]
        """The tiers."""
        return self.rule.tiers

    def broadcast(self, state: TierModels, version: int) -> Any:
        """Send what the inner phase sends."""
        return self.inner.broadcast(state.inner, version)

    def step(
        self, state: TierModels, arrivals: Arrivals[Any, Any], weights: Floats
    ) -> tuple[TierModels, Mapping[str, float]]:
        """Step of the inner phase from where the tier began; then the mean over tiers."""
        manifold, x = self.problem.manifold, state.inner.point
        assert isinstance(manifold, InvertibleRetraction)
        start = replace(state.inner, point=arrivals.download.point[0])  # a round's is one download
        fresh = replace(arrivals, stale=np.zeros_like(arrivals.stale))
        new, metrics = self.inner.step(start, fresh, weights)
        models, rounds = state.models.copy(), state.rounds.copy()
        models[arrivals.group] = new.point
        rounds[arrivals.group] += 1
        shares = (rounds[::-1] / rounds.sum()).astype(x.dtype)
        y = manifold.retract(x, weighted_sum(shares, manifold.inverse_retract(x, models)))
        told = {"tier": float(arrivals.group), "tier_share": float(shares[arrivals.group])}
        return TierModels(replace(new, point=y), models, rounds), merge(metrics, told)

"""Fréchet-mean aggregation: the server goes to the mean of the end points on the manifold itself.

    x_{t+1} = argmin_x sum_i w_i dist^2(x, x_{i,K}),

found by the fixed-point iteration y <- Exp_y(sum_i w_i Exp^{-1}_y(x_{i,K}) / s), s = sum_i w_i,
from y = x_t (Karcher: "Riemannian center of mass", 1977). RFedAvg, the tangent mean of Li and Ma
(2023), is its first iterate. Where a manifold has no logarithm, retraction and inverse retraction
take the place of both maps (for Stiefel that is best the polar one, which does not depend on the
basis). On flat space the two algorithms are one.

Weights need not sum to 1: the mean is that of the weights w_i / s, and the server then goes s times
the way to it, Exp_{x_t}(s Exp^{-1}_{x_t}(mean)), as the tangent mean does. So with weights
1/(p_i N), whose s is 1 on average, the step has the right length for how much was heard; it is
unbiased on flat space, and up to the curvature over the spread of the end points elsewhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt

from driftfold.algorithms.base import Arrivals, Endpoint, Phase
from driftfold.algorithms.local_steps import Broadcast, ServerPoint, Way
from driftfold.algorithms.plain_descent import PlainDescent
from driftfold.algorithms.tangent_mean import TangentMean
from driftfold.arrays import Array, Floats, along
from driftfold.manifolds.base import Geodesic, InvertibleRetraction, Manifold
from driftfold.registry import register
from driftfold.tasks.base import Problem

_SHORTEST = 2.0**-10  # of a whole step: if that is too long, it is rounding that lengthens the rest


@register("rfed_frechet")
@dataclass(frozen=True)
class RFedFrechet(TangentMean[ServerPoint]):
    """Clients upload the point where K local steps end; the server takes their Fréchet mean.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, "full", or a rule.
    step_size
        Local step size alpha, a number or a rule.
    combine
        How each iteration makes one tangent vector of the ways to the end points. With
        "geometric_median" it is the geometric median on the manifold.
    server
        How far, and which way, the server goes along the way to the mean.
    server_map
        "exp": exponential map and logarithm where the manifold has both; "retraction", and where
        it has not: retraction and inverse retraction.
    iterations
        Fixed-point iterations at most; 1 is RFedAvg with the same maps.
    tolerance
        Length of the mean of the ways to the end points at which the iteration stops.
    """

    iterations: Annotated[int, Gt(0)] = 100
    tolerance: Annotated[float, Ge(0)] = 1e-10

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        """Return the one exchange of a round."""
        return (MeanOfEnds(self, problem),)


@dataclass(frozen=True)
class MeanOfEnds(PlainDescent[ServerPoint, Broadcast]):
    """One round: x_t down, the end of the local path up."""

    algorithm: RFedFrechet

    uses = "payloads"

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Broadcast, Endpoint], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        """x_{t+1} = Exp_{x_t}(s Exp^{-1}_{x_t}(m)), m the Fréchet mean of the end points.

        Where work began at an older point, its way is carried to x_t, and ends elsewhere.
        """
        manifold, rule, x = self.problem.manifold, self.algorithm, state.point
        way, back = _maps(manifold, rule.server_map)
        ends, total = arrivals.payload.point, float(weights.sum())
        ways = back(arrivals.download.point, ends)
        if arrivals.stale.any():
            ways = manifold.transport(arrivals.download.point, x, ways)
            ends = np.where(along(arrivals.stale, ends), way(x, ways), ends)
        first = rule.combine.combine(manifold, x, weights, ways)

        def pull(y: Array) -> Array:
            return rule.combine.combine(manifold, y, weights, back(y, ends)) / total

        mean, taken = x, 1
        if rule.iterations > 1 and total > 0:
            mean, taken = _fixed_point(manifold, x, first / total, pull, way, rule)
        # Until the second iteration the way to the mean is known; nothing need be undone.
        vector = first if taken < 2 else (total * back(x, mean)).astype(x.dtype, copy=False)
        new, metrics = self.follow(state, vector, way)
        return new, {**metrics, "iterations": float(taken)}


def _fixed_point(
    manifold: Manifold,
    start: Array,
    first: Array,
    pull: Callable[[Array], Array],
    way: Way,
    rule: RFedFrechet,
) -> tuple[Array, int]:
    """Iterate y <- way(y, h pull(y)) until the pull is short, and tell how often.

    h = 1 where curvature is small over the spread of the end points. In negative curvature a whole
    step may lead beyond the mean; then h is halved until the pull gets shorter.
    """
    y, u, length = start, first, float(manifold.norm(start, first))
    h, taken = 1.0, 0
    while length > rule.tolerance and taken < rule.iterations and h >= _SHORTEST:
        z = way(y, h * u)
        v = pull(z)
        taken += 1
        reached = float(manifold.norm(z, v))
        if reached < length:
            y, u, length = z, v, reached
        else:
            h /= 2
    return y, taken


def _maps(manifold: Manifold, server_map: str) -> tuple[Way, Way]:
    if server_map == "exp" and isinstance(manifold, Geodesic):
        return manifold.exp, manifold.log
    assert isinstance(manifold, InvertibleRetraction)
    return manifold.retract, manifold.inverse_retract

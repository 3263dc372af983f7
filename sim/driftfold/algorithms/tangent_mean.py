"""The tangent mean: end points averaged in the tangent space of the server's point.

x_{t+1} = Exp_{x_t}(sum_i w_i Exp^{-1}_{x_t}(x_{i,K})), Li and Ma, "Federated learning on Riemannian
manifolds", 2023. Where a manifold has no logarithm its inverse retraction takes its place, and the
server's map is the exponential where there is one, as in the experiments of RFedAGS.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from driftfold.algorithms.aggregation import weighted_sum
from driftfold.algorithms.base import Arrivals, Endpoint
from driftfold.arrays import Array, Floats
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import Exponential, InvertibleRetraction, Manifold
from driftfold.tasks.base import Problem

ServerMap: TypeAlias = Literal["exp", "retraction"]
"""How the server goes along the mean tangent vector: "exp" where the manifold has it."""


def check_tangent_mean(problem: Problem, algorithm: str) -> None:
    """Raise `CapabilityError` when the manifold has no inverse retraction."""
    if not isinstance(problem.manifold, InvertibleRetraction):
        raise CapabilityError(
            f"{algorithm} averages in the tangent space and needs a manifold with an inverse "
            f"retraction; {type(problem.manifold).__name__} has none; choose another algorithm, "
            "for example rfedags, or another retraction"
        )


def tangent_mean(
    manifold: Manifold,
    x: Array,
    arrivals: Arrivals[Any, Endpoint],
    weights: Floats,
    server_map: ServerMap,
) -> tuple[Array, Mapping[str, float]]:
    """Return the next point from end points x_{i,K} with weights w_i, shape (k,).

    Weights that sum to 1 give the mean; inverse-probability weights give its unbiased version.
    """
    assert isinstance(manifold, InvertibleRetraction)
    base = arrivals.download.point
    u = manifold.inverse_retract(base, arrivals.payload.point)
    if arrivals.stale.any():
        u = manifold.transport(base, x, u)
    v = weighted_sum(weights, u)
    use_exp = server_map == "exp" and isinstance(manifold, Exponential)
    new = manifold.exp(x, v) if use_exp else manifold.retract(x, v)  # type: ignore[attr-defined]
    return new, {"step_norm": float(manifold.norm(x, v))}

"""The tangent mean: end points averaged in the tangent space of the server's point.

x_{t+1} = Exp_{x_t}(sum_i w_i Exp^{-1}_{x_t}(x_{i,K})), Li and Ma, "Federated learning on Riemannian
manifolds", 2023. Where a manifold has no logarithm its inverse retraction takes its place, and the
server's map is the exponential where there is one, as in the experiments of RFedAGS.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from driftfold.algorithms.base import Arrivals, Endpoint
from driftfold.algorithms.local_steps import D, LocalSteps, LocalWork, S
from driftfold.arrays import Floats
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import Exponential, InvertibleRetraction
from driftfold.tasks.base import Problem

ServerMap: TypeAlias = Literal["exp", "retraction"]
"""How the server goes along the mean tangent vector: "exp" where the manifold has it."""


@dataclass(frozen=True)
class TangentMean(LocalSteps[S]):
    """What the algorithms share that average end points in the tangent space.

    Attributes
    ----------
    server_map
        The server's map along the mean: "exp" where the manifold has it, or "retraction".
    """

    server_map: ServerMap = "exp"

    def check(self, problem: Problem) -> None:
        """Require an inverse retraction."""
        if not isinstance(problem.manifold, InvertibleRetraction):
            raise CapabilityError(
                f"{type(self).__kind__} averages in the tangent space and needs a manifold with "  # type: ignore[attr-defined]
                f"an inverse retraction; {type(problem.manifold).__name__} has none; choose "
                "another algorithm, for example rfedags, or another retraction"
            )


@dataclass(frozen=True)
class ToTheMean(LocalWork[S, D, Endpoint]):
    """An exchange whose end points x_{i,K} are averaged in the tangent space of x_t."""

    algorithm: TangentMean[Any]

    payload_kind = Endpoint

    def step(
        self, state: S, arrivals: Arrivals[D, Endpoint], weights: Floats
    ) -> tuple[S, Mapping[str, float]]:
        """x_{t+1} = Exp_{x_t}(sum_i w_i u_i), u_i = Exp^{-1}_{x_t}(x_{i,K}).

        Weights that sum to 1 give the mean; inverse-probability weights give its unbiased version.
        """
        manifold = self.problem.manifold
        assert isinstance(manifold, InvertibleRetraction)
        u = arrivals.payload.to_vector(manifold, arrivals.download.point)
        use_exp = self.algorithm.server_map == "exp" and isinstance(manifold, Exponential)
        way = manifold.exp if use_exp else manifold.retract  # type: ignore[attr-defined]
        return self.advance(state, arrivals, weights, u, way)

"""RFedAvg: local Riemannian SGD, averaged in the tangent space of the server's point.

Li, J., Ma, S.: "Federated learning on Riemannian manifolds", 2023, Algorithm 2 with local steps
in place of variance reduction; the main baseline of RFedAGS. The published method weights by
1/|S_t| (estimator "none"); with the estimator "inclusive" or "oracle" it becomes RFedAvg with
corrected weights 1/(q_i N), the ablation that separates the weights from the aggregation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.aggregation import along
from driftfold.algorithms.base import Arrivals, Endpoint, LocalResult, Phase
from driftfold.algorithms.local_steps import Broadcast, LocalSteps, LocalWork, ServerPoint
from driftfold.algorithms.tangent_mean import ServerMap, check_tangent_mean, tangent_mean
from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.tasks.base import Problem, View


@register("rfedavg")
@dataclass(frozen=True)
class RFedAvg(LocalSteps):
    """Clients upload the point where K local steps end.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, or "full".
    step_size
        Local step size alpha, a number or a rule.
    server_map
        The server's map along the mean: "exp" where the manifold has it, or "retraction".
    """

    server_map: ServerMap = "exp"

    def check(self, problem: Problem) -> None:
        """Require an inverse retraction."""
        check_tangent_mean(problem, "rfedavg")

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        """Return the one exchange of a round."""
        return (LocalDescent(self, problem),)


@dataclass(frozen=True)
class LocalDescent(LocalWork[Endpoint]):
    """One round: x_t down, the end of the local path up."""

    algorithm: RFedAvg

    payload_kind = Endpoint
    descent = "endpoint"

    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[Endpoint]:
        """K steps x_{k+1} = R_{x_k}(-alpha grad f_i(x_k; B_k)) from x_t."""
        manifold = self.problem.manifold
        x = download.point
        alpha = along(download.step_size, x)
        for batch in view.batches(self.algorithm.batch, steps):
            x = manifold.retract(x, -alpha * view.gradient(x, batch))
        return LocalResult(Endpoint(x))

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Broadcast, Endpoint], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        """Go along the mean tangent vector."""
        x, metrics = tangent_mean(
            self.problem.manifold, state.point, arrivals, weights, self.algorithm.server_map
        )
        return ServerPoint(x), metrics

"""RFedProx: RFedAvg whose clients are held near the server's point.

Li, T., et al.: "Federated optimization in heterogeneous networks" (FedProx), MLSys 2020, on a
manifold as in the experiments of Li, J., Ma, S.: "Federated learning on Riemannian manifolds",
2023. Client i descends on f_i(x) + (mu / 2) dist^2(x, x_t), whose gradient is

    grad f_i(x_k) - mu Exp^{-1}_{x_k}(x_t).

Where a manifold has no logarithm, its inverse retraction takes its place; that is the same to first
order, and no longer a gradient. (The program of Li and Ma adds the term, which drives clients away
from x_t.) In Euclidean space it is FedProx. The published method weights by 1/|S_t| (estimator
"none").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge

from driftfold.algorithms.base import Endpoint, LocalResult, Phase
from driftfold.algorithms.local_steps import Broadcast, ServerPoint
from driftfold.algorithms.partial_work import PartialWork
from driftfold.algorithms.tangent_mean import TangentMean, ToTheMean
from driftfold.manifolds.base import Geodesic, InvertibleRetraction
from driftfold.registry import register
from driftfold.tasks.base import Problem, View


@register("rfedprox")
@dataclass(frozen=True)
class RFedProx(TangentMean[ServerPoint], PartialWork[ServerPoint]):
    """Clients upload the point where K local steps end, each drawn back towards the start.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, "full", or a rule.
    step_size
        Local step size alpha, a number or a rule.
    combine
        How the server makes one tangent vector of the ways to the end points.
    server
        How far, and which way, the server goes along it.
    server_map
        The server's map along the mean: "exp" where the manifold has it, or "retraction".
    mu
        Weight of the proximal term; 0 is RFedAvg. Steps converge where alpha mu is below 2.
    """

    mu: Annotated[float, Ge(0)] = 1.0

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        """Return the one exchange of a round."""
        return (ProximalDescent(self, problem),)


@dataclass(frozen=True)
class ProximalDescent(ToTheMean[ServerPoint, Broadcast]):
    """One round: x_t down, the end of the local path up."""

    algorithm: RFedProx

    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[Endpoint]:
        """K steps x_{k+1} = R_{x_k}(-alpha_k (grad f_i(x_k; B_k) - mu Exp^{-1}_{x_k}(x_t)))."""
        manifold = self.problem.manifold
        assert isinstance(manifold, InvertibleRetraction)
        towards = manifold.log if isinstance(manifold, Geodesic) else manifold.inverse_retract
        x = start = download.point
        for k, batch in enumerate(self.batches(download, view, steps)):
            g = view.gradient(x, batch)
            if k > 0:  # at the start itself there is no way back
                g = g - self.algorithm.mu * towards(x, start)
            x = manifold.retract(x, -download.alpha(k) * g)
        return LocalResult(Endpoint(x))

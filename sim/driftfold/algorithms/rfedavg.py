"""RFedAvg: local Riemannian SGD, averaged in the tangent space of the server's point.

Li, J., Ma, S.: "Federated learning on Riemannian manifolds", 2023, Algorithm 2 with local steps
in place of variance reduction; the main baseline of RFedAGS. The published method weights by
1/|S_t| (estimator "none"); with the estimator "inclusive" or "oracle" it becomes RFedAvg with
corrected weights 1/(q_i N), the ablation that separates the weights from the aggregation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import Phase
from driftfold.algorithms.local_steps import Broadcast, ServerPoint
from driftfold.algorithms.partial_work import PartialWork
from driftfold.algorithms.plain_descent import PlainDescent
from driftfold.algorithms.tangent_mean import TangentMean, ToTheMean
from driftfold.registry import register
from driftfold.tasks.base import Problem


@register("rfedavg")
@dataclass(frozen=True)
class RFedAvg(TangentMean[ServerPoint], PartialWork[ServerPoint]):
    """Clients upload the point where K local steps end.

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
    """

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        """Return the one exchange of a round."""
        return (LocalDescent(self, problem),)


@dataclass(frozen=True)
class LocalDescent(PlainDescent[ServerPoint, Broadcast], ToTheMean[ServerPoint, Broadcast]):
    """One round: x_t down, the end of the local path up."""

    algorithm: RFedAvg

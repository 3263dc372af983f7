"""RFedAGS: Riemannian federated learning by averaging gradient streams.

Huang, Z., Huang, W., Jawanpuria, P., Mishra, B.: "Riemannian Federated Learning via Averaging
Gradient Streams", ICLR 2026 (arXiv 2409.07223). The variants differ only in the weights, that is
in the estimator: AGS-RS uses "none" (1/|S_t|), AGS-AP "oracle" (1/(p_i N)), AGS-AP with
frequencies "inclusive" or "past" (1/(q_i N)).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Gt

from driftfold.algorithms.aggregation import along, weighted_sum
from driftfold.algorithms.base import Arrivals, LocalResult, Phase, Tangent
from driftfold.algorithms.local_steps import Broadcast, LocalSteps, LocalWork, ServerPoint
from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.tasks.base import Problem, View


@register("rfedags")
@dataclass(frozen=True)
class RFedAGS(LocalSteps):
    """Clients upload the sum of their gradients, carried back to the server's point.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, or "full".
    step_size
        Local step size alpha, a number or a rule.
    server_step
        Server step size.
    """

    server_step: Annotated[float, Gt(0)] = 1.0

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        """Return the one exchange of a round."""
        return (GradientStreams(self, problem),)


@dataclass(frozen=True)
class GradientStreams(LocalWork[Tangent]):
    """One round: x_t down, one tangent vector up."""

    algorithm: RFedAGS

    payload_kind = Tangent
    descent = "stream"

    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[Tangent]:
        """Run K local steps from x_t, and return the gradient stream zeta in T_{x_t} M.

        zeta = alpha * sum_k T_{x_k -> x_t}(grad f_i(x_k; B_k)), x_{k+1} = R_{x_k}(-alpha grad).
        The point after the last step would not be used and is not computed.
        """
        manifold = self.problem.manifold
        x = download.point
        alpha = along(download.step_size, x)
        stream = manifold.gradient_stream(x)
        for k, batch in enumerate(view.batches(self.algorithm.batch, steps)):
            g = view.gradient(x, batch)
            stream.add(x, g)
            if k < steps - 1:
                x = manifold.retract(x, -alpha * g)
        return LocalResult(Tangent(alpha * stream.total()))

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Broadcast, Tangent], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        """x_{t+1} = R_{x_t}(-sum_i w_i zeta_i); stale streams are carried to x_t first."""
        manifold, x = self.problem.manifold, state.point
        zeta = arrivals.payload.vector
        if arrivals.stale.any():
            zeta = manifold.transport(arrivals.download.point, x, zeta)
        v = self.algorithm.server_step * weighted_sum(weights, zeta)
        return ServerPoint(manifold.retract(x, -v)), {"step_norm": float(manifold.norm(x, v))}

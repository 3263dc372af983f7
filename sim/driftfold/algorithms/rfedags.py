"""RFedAGS: Riemannian federated learning by averaging gradient streams.

Huang, Z., Huang, W., Jawanpuria, P., Mishra, B.: "Riemannian Federated Learning via Averaging
Gradient Streams", ICLR 2026 (arXiv 2409.07223). The variants differ only in the weights, that is
in the estimator: AGS-RS uses "none" (1/|S_t|), AGS-AP "oracle" (1/(p_i N)), AGS-AP with
frequencies "inclusive" or "past" (1/(q_i N)).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from driftfold.algorithms.base import Arrivals, LocalResult, Phase, Tangent
from driftfold.algorithms.local_steps import Broadcast, LocalWork, ServerPoint
from driftfold.algorithms.partial_work import PartialWork
from driftfold.arrays import Array, Floats, Ints
from driftfold.registry import register
from driftfold.tasks.base import Problem, View


@register("rfedags")
@dataclass(frozen=True)
class RFedAGS(PartialWork[ServerPoint]):
    """Clients upload the sum of their gradients, carried back to the server's point.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, "full", or a rule.
    step_size
        Local step size alpha, a number or a rule.
    combine
        How the server makes one tangent vector of the streams.
    server
        How far, and which way, the server goes along it.
    variance_reduced
        Whether each mini-batch gradient is corrected by the client's full gradient at x_t.
    """

    variance_reduced: bool = False

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        """Return the one exchange of a round."""
        return (GradientStreams(self, problem),)


@dataclass(frozen=True)
class GradientStreams(LocalWork[ServerPoint, Broadcast, Tangent]):
    """One round: x_t down, one tangent vector up."""

    algorithm: RFedAGS

    payload_kind = Tangent

    @property
    def descent(self) -> Literal["stream"] | None:  # type: ignore[override]
        """Plain descent, unless gradients are corrected."""
        return None if self.algorithm.variance_reduced else "stream"

    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[Tangent]:
        """Run K local steps from x_t, and return the gradient stream zeta in T_{x_t} M.

        zeta = sum_k T_{x_k -> x_t}(alpha_k g_k), x_{k+1} = R_{x_k}(-alpha_k g_k), where g_k is
        grad f_i(x_k; B_k), or its variance-reduced form. The point after the last step would not
        be used and is not computed.
        """
        manifold, reduced = self.problem.manifold, self.algorithm.variance_reduced
        x = anchor = download.point
        full = view.gradient(x, view.everything()) if reduced else None
        stream = manifold.gradient_stream(x)
        for k, batch in enumerate(self.batches(download, view, steps)):
            g = view.gradient(x, batch)
            if reduced:  # g_k - T_{x_t -> x_k}(grad f_i(x_t; B_k) - grad f_i(x_t))
                off: Array = view.gradient(anchor, batch) - full
                g = g - (off if x is anchor else manifold.transport(anchor, x, off))
            step = download.alpha(k) * g
            stream.add(x, step)
            if k < steps - 1:
                x = manifold.retract(x, -step)
        return LocalResult(Tangent(stream.total()))

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Broadcast, Tangent], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        """x_{t+1} = R_{x_t}(-sum_i w_i zeta_i)."""
        zeta, retract = arrivals.payload.vector, self.problem.manifold.retract
        return self.advance(state, arrivals, weights, zeta, lambda x, v: retract(x, -v))

    def samples(self, clients: Ints, version: int) -> Floats:
        """K mini-batches; with variance reduction each at two points, and all samples once."""
        drawn = super().samples(clients, version)
        if not self.algorithm.variance_reduced:
            return drawn
        return 2 * drawn + self.problem.batch_samples("full", clients)

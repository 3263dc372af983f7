"""RFedSVRG: Riemannian federated learning with variance reduction, in two phases.

Li, J., Ma, S.: "Federated learning on Riemannian manifolds", 2023, Algorithm 1, with the sampling
of clients of the RFedAGS experiments: the clients of a round first send their full gradients, the
server sends the mean back, and the same clients take corrected local steps. The server's mean is
taken over all responders. The implementation behind the curves of the RFedAGS paper drops the
first, counts the last twice and divides by N; `published_bug` repeats that.

With weights 1/(p_i N) each exchange is unbiased given the other. Together they are not quite, since
they share the draw: the gradient of client j counts 1 + (1/p_j - 1) / N times (our derivation).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from driftfold.algorithms.base import Arrivals, Endpoint, LocalResult, Phase, Tangent
from driftfold.algorithms.local_steps import Broadcast, LocalWork, ServerPoint
from driftfold.algorithms.partial_work import PartialWork
from driftfold.algorithms.tangent_mean import TangentMean, ToTheMean
from driftfold.arrays import Array, Floats, Ints
from driftfold.combinations.aggregation import weighted_sum
from driftfold.registry import register
from driftfold.tasks.base import Problem, View
from driftfold.trees import node


@node
class AnchorState(ServerPoint):
    """Server state: x_t, moments, and the mean full gradient at x_t (0 before the first phase)."""

    gradient: Array = None


@node
class Anchor(Broadcast):
    """Download of the second phase: x_t, alpha_{t,k} and the mean full gradient g_t."""

    gradient: Array = None


@register("rfedsvrg")
@dataclass(frozen=True)
class RFedSVRG(TangentMean[AnchorState], PartialWork[AnchorState]):
    """Local steps along stochastic gradients corrected by the mean full gradient.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B of a local step ("full" is the form of Li and Ma), or a rule.
    step_size
        Local step size alpha, a number or a rule.
    combine
        How the server makes one tangent vector of the ways to the end points.
    server
        How far, and which way, the server goes along it.
    server_map
        The server's map along the mean: "exp" where the manifold has it, or "retraction".
    published_bug
        Whether the mean full gradient leaves out the first responder, counts the last one twice
        and is divided by N, as in the program behind the published curves.
    """

    published_bug: bool = False

    def phases(self, problem: Problem) -> Sequence[Phase[AnchorState, Any, Any]]:
        """Full gradients first, then corrected local steps."""
        return (FullGradient(self, problem), CorrectedDescent(self, problem))

    def begin(self, problem: Problem, x: Array) -> AnchorState:
        """Start at x."""
        return AnchorState(x, self.server.begin(problem.manifold, x), np.zeros_like(x))


@dataclass(frozen=True)
class FullGradient(LocalWork[AnchorState, Broadcast, Tangent]):
    """First phase: g_i = grad f_i(x_t) over all samples."""

    algorithm: RFedSVRG

    payload_kind = Tangent

    @property
    def uses(self) -> Literal["payloads", "vectors", "sum"]:  # type: ignore[override]
        """Vectors; where the sum is wrong, they have other weights."""
        return "vectors" if self.algorithm.published_bug else super().uses

    @property
    def steps(self) -> int:
        """One, of all samples."""
        return 1

    def broadcast(self, state: AnchorState, version: int) -> Broadcast:
        """Send x_t."""
        return Broadcast(state.point, np.empty(0, dtype=state.point.dtype))

    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[Tangent]:
        """Compute the full gradient."""
        x = download.point
        return LocalResult(Tangent(view.gradient(x, view.everything())))

    def step(
        self, state: AnchorState, arrivals: Arrivals[Broadcast, Tangent], weights: Floats
    ) -> tuple[AnchorState, Mapping[str, float]]:
        """g_t = sum_i w_i g_i over the responders."""
        manifold, x = self.problem.manifold, state.point
        g = arrivals.payload.vector
        if arrivals.stale.any():
            g = manifold.transport(arrivals.download.point, x, g)
        if self.algorithm.published_bug:
            mean = weighted_sum(_off_by_one(weights), g) / self.problem.fleet.size
        else:
            mean = self.algorithm.combine.combine(manifold, x, weights, g)
        return replace(state, gradient=mean), {"gradient_norm": float(manifold.norm(x, mean))}

    def samples(self, clients: Ints, version: int) -> Floats:
        """All samples, once."""
        return self.problem.batch_samples("full", clients)

    def download_bytes(self) -> int:
        """One point."""
        return self.problem.point_bytes


@dataclass(frozen=True)
class CorrectedDescent(ToTheMean[AnchorState, Anchor]):
    """Second phase: K steps along grad f_{i,B}(x_k) - T(grad f_{i,B}(x_t) - g_t)."""

    algorithm: RFedSVRG

    def broadcast(self, state: AnchorState, version: int) -> Anchor:
        """Send x_t, alpha_{t,k} and g_t; the point is known, but sent again."""
        sent = super().broadcast(state, version)
        return Anchor(sent.point, sent.step_size, sent.version, state.gradient)

    def local(self, download: Anchor, view: View, memory: Any, steps: int) -> LocalResult[Endpoint]:
        """K corrected steps from x_t; one mini-batch serves both gradients of a step."""
        manifold = self.problem.manifold
        x = anchor = download.point
        for k, batch in enumerate(self.batches(download, view, steps)):
            at_anchor = view.gradient(anchor, batch)
            correction = manifold.transport(anchor, x, at_anchor - download.gradient)
            v = view.gradient(x, batch) - correction
            x = manifold.retract(x, -download.alpha(k) * v)
        return LocalResult(Endpoint(x))

    def samples(self, clients: Ints, version: int) -> Floats:
        """K mini-batches, each at two points."""
        return 2 * super().samples(clients, version)

    def download_bytes(self) -> int:
        """A tangent vector beside what all send."""
        return super().download_bytes() + self.problem.point_bytes


def _off_by_one(weights: Floats) -> Floats:
    """Whole counts: 0 for the first responder, 2 for the last, 1 for all between."""
    counts = np.ones_like(weights)
    counts[0] -= 1
    counts[-1] += 1
    return counts

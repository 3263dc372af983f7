"""RFedSVRG: Riemannian federated learning with variance reduction, in two phases.

Li, J., Ma, S.: "Federated learning on Riemannian manifolds", 2023, Algorithm 1, with the sampling
of clients of the RFedAGS experiments: the clients of a round first send their full gradients, the
server sends the mean back, and the same clients take corrected local steps. The server's mean is
taken over all responders (a released implementation drops the first, counts the last twice and
divides by N; its curves are not those of this algorithm).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.aggregation import along, weighted_sum
from driftfold.algorithms.base import Algorithm, Arrivals, Endpoint, LocalResult, Phase, Tangent
from driftfold.algorithms.local_steps import Broadcast
from driftfold.algorithms.step_size import Step, step_at
from driftfold.algorithms.tangent_mean import ServerMap, check_tangent_mean, tangent_mean
from driftfold.arrays import Array, Floats, Ints
from driftfold.registry import register
from driftfold.tasks.base import BatchSize, Problem, View
from driftfold.trees import node


@node
class AnchorState:
    """Server state: x_t and the mean full gradient at x_t (zero before the first phase)."""

    point: Array
    gradient: Array


@node
class Anchor:
    """Download of the second phase: x_t, alpha_t and the mean full gradient g_t."""

    point: Array
    step_size: Array
    gradient: Array


@register("rfedsvrg")
@dataclass(frozen=True)
class RFedSVRG(Algorithm[AnchorState]):
    """Local steps along stochastic gradients corrected by the mean full gradient.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B of a local step ("full" is the form of Li and Ma).
    step_size
        Local step size alpha, a number or a rule.
    server_map
        The server's map along the mean: "exp" where the manifold has it, or "retraction".
    """

    steps: Annotated[int, Gt(0)] = 5
    batch: BatchSize = "full"
    step_size: Step = 0.01
    server_map: ServerMap = "exp"

    def check(self, problem: Problem) -> None:
        """Require an inverse retraction."""
        check_tangent_mean(problem, "rfedsvrg")

    def phases(self, problem: Problem) -> Sequence[Phase[AnchorState, Any, Any]]:
        """Full gradients first, then corrected local steps."""
        return (FullGradient(self, problem), CorrectedDescent(self, problem))

    def begin(self, problem: Problem, x: Array) -> AnchorState:
        """Start at x."""
        return AnchorState(x, np.zeros_like(x))

    def model(self, state: AnchorState) -> Array:
        """Return x_t."""
        return state.point


@dataclass(frozen=True)
class FullGradient(Phase[AnchorState, Broadcast, Tangent]):
    """First phase: g_i = grad f_i(x_t) over all samples."""

    algorithm: RFedSVRG
    problem: Problem

    payload_kind = Tangent
    steps = 1

    def broadcast(self, state: AnchorState, version: int) -> Broadcast:
        """Send x_t."""
        return Broadcast.of(state.point, step_at(self.algorithm.step_size, version))

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
        g = arrivals.payload.vector
        if arrivals.stale.any():
            g = self.problem.manifold.transport(arrivals.download.point, state.point, g)
        mean = weighted_sum(weights, g)
        norm = float(self.problem.manifold.norm(state.point, mean))
        return AnchorState(state.point, mean), {"gradient_norm": norm}

    def samples(self, clients: Ints) -> Floats:
        """All samples, once."""
        return self.problem.batch_samples("full", clients)

    def download_bytes(self) -> int:
        """One point and one number."""
        return self.problem.point_bytes + self.problem.itemsize

    def upload_bytes(self) -> int:
        """One tangent vector."""
        return self.problem.point_bytes


@dataclass(frozen=True)
class CorrectedDescent(Phase[AnchorState, Anchor, Endpoint]):
    """Second phase: K steps along grad f_{i,B}(x_k) - T(grad f_{i,B}(x_t) - g_t)."""

    algorithm: RFedSVRG
    problem: Problem

    payload_kind = Endpoint

    @property
    def steps(self) -> int:
        """Local steps K."""
        return self.algorithm.steps

    def broadcast(self, state: AnchorState, version: int) -> Anchor:
        """Send x_t, alpha_t and g_t."""
        alpha = np.array(step_at(self.algorithm.step_size, version), dtype=state.point.dtype)
        return Anchor(state.point, alpha, state.gradient)

    def local(self, download: Anchor, view: View, memory: Any, steps: int) -> LocalResult[Endpoint]:
        """K corrected steps from x_t; one mini-batch serves both gradients of a step."""
        manifold = self.problem.manifold
        x = anchor = download.point
        alpha = along(download.step_size, x)
        for batch in view.batches(self.algorithm.batch, steps):
            at_anchor = view.gradient(anchor, batch)
            correction = manifold.transport(anchor, x, at_anchor - download.gradient)
            v = view.gradient(x, batch) - correction
            x = manifold.retract(x, -alpha * v)
        return LocalResult(Endpoint(x))

    def step(
        self, state: AnchorState, arrivals: Arrivals[Anchor, Endpoint], weights: Floats
    ) -> tuple[AnchorState, Mapping[str, float]]:
        """Go along the mean tangent vector."""
        x, metrics = tangent_mean(
            self.problem.manifold, state.point, arrivals, weights, self.algorithm.server_map
        )
        return AnchorState(x, state.gradient), metrics

    def samples(self, clients: Ints) -> Floats:
        """K mini-batches, each at two points."""
        return 2 * self.steps * self.problem.batch_samples(self.algorithm.batch, clients)

    def download_bytes(self) -> int:
        """A point, a tangent vector and a number; the point is known, but sent again."""
        return 2 * self.problem.point_bytes + self.problem.itemsize

    def upload_bytes(self) -> int:
        """One point."""
        return self.problem.point_bytes

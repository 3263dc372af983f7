"""Steps in the surrounding space, each followed by the projection onto the manifold.

Zhang, J., Hu, J., So, A. M.-C., Johansson, M.: "Nonconvex federated learning on compact smooth
submanifolds with heterogeneous data", NeurIPS 2024. The server keeps an array z of the surrounding
space; the model is its nearest point P(z) of the manifold. Clients walk beside the manifold, too,
and evaluate at the projection. A correction c_i, the difference between the mean step of all and
the client's own in the round before, takes out what the clients' data differ by; it costs no
communication, for a client finds the mean step in how z has moved. It sums to zero over the clients
if all take part. A client that did not respond in the round before has none (the rule of the
RFedAGS experiments), as nobody has in the first round.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.aggregation import along, weighted_sum
from driftfold.algorithms.base import Algorithm, Arrivals, LocalResult, Phase
from driftfold.algorithms.step_size import Step, step_at
from driftfold.arrays import Array, Floats, Ints
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import NearestPoint
from driftfold.registry import kind_of
from driftfold.tasks.base import Batch, BatchSize, Problem, View
from driftfold.trees import node

_NEVER = -2  # no version of the server's, nor the one before its first


@node
class AmbientState:
    """Server state: z, and the model P(z) (the first iterate itself at the start)."""

    ambient: Array
    point: Array


@node
class AmbientBroadcast:
    """Download: z, alpha_t, the round's number, and how far a unit step went in the one before.

    `reach` is eta_g K alpha_{t-1}: z_{t-1} projected minus z_t, divided by it, is the mean step.
    """

    ambient: Array
    step_size: Array
    reach: Array
    version: Array


@node
class Ambient:
    """Payload: an array of the surrounding space."""

    ambient: Array


@node
class Visit:
    """What a client keeps of the round it last took part in: P(z), its mean step, the number."""

    start: Array
    mean: Array
    version: Array


@dataclass(frozen=True)
class ProjectedSteps(Algorithm[AmbientState]):
    """What the algorithms share that project after each step.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, or "full".
    step_size
        Local step size alpha, a number or a rule.
    server_step
        Server step size eta_g.
    """

    steps: Annotated[int, Gt(0)] = 5
    batch: BatchSize = "full"
    step_size: Step = 0.01
    server_step: Annotated[float, Gt(0)] = 1.0

    def check(self, problem: Problem) -> None:
        """Require nearest points, and gradients in the metric of the surrounding space."""
        manifold = problem.manifold
        if not isinstance(manifold, NearestPoint):
            raise CapabilityError(
                f"{kind_of(self)} projects onto the manifold and needs one with nearest points; "
                f"{type(manifold).__name__} has none (sphere, stiefel, euclidean and products of "
                "them have); choose another algorithm, for example rfedags"
            )
        if not manifold.induced:
            raise CapabilityError(
                f"{kind_of(self)} needs the metric of the surrounding space, and {manifold} has "
                "another; choose metric 'euclidean', or another algorithm, for example rfedags"
            )

    def begin(self, problem: Problem, x: Array) -> AmbientState:
        """Start at z = x."""
        return AmbientState(x, x)

    def model(self, state: AmbientState) -> Array:
        """Return P(z)."""
        return state.point

    def memory(self, problem: Problem) -> Visit:
        """Return the memory of a client that never took part."""
        nothing = np.zeros_like(problem.initial_point())
        return Visit(nothing, nothing, np.array(_NEVER, dtype=np.int64))


@dataclass(frozen=True)
class ProjectedWork(Phase[AmbientState, AmbientBroadcast, Ambient]):
    """The exchange of a round: z down, where the client's own walk ended up."""

    algorithm: ProjectedSteps
    problem: Problem

    payload_kind = Ambient

    @abstractmethod
    def slope(self, view: View, w: Array, batch: Batch, k: int) -> Array:
        """Direction g of step k, from the batch's losses around w on the manifold."""

    @property
    def steps(self) -> int:
        """Local steps K."""
        return self.algorithm.steps

    @property
    def batch(self) -> BatchSize:
        """Mini-batch size B."""
        return self.algorithm.batch

    def broadcast(self, state: AmbientState, version: int) -> AmbientBroadcast:
        """Send z_t, alpha_t, eta_g K alpha_{t-1} and t."""
        alpha, before = (
            step_at(self.algorithm.step_size, max(t, 0)) for t in (version, version - 1)
        )
        reach = self.algorithm.server_step * self.steps * before
        dtype = state.ambient.dtype
        return AmbientBroadcast(
            state.ambient, np.array(alpha, dtype), np.array(reach, dtype), np.array(version)
        )

    def local(
        self, download: AmbientBroadcast, view: View, memory: Visit, steps: int
    ) -> LocalResult[Ambient]:
        """K steps z^ <- z^ - alpha (g + c), g at w = P(z^), from z^ = P(z).

        c = (P(z_{t-1}) - z_t) / (eta_g K alpha_{t-1}) - g_mean where the client responded in round
        t - 1, with its mean direction g_mean there; else 0.
        """
        nearest = self._manifold.nearest
        z = download.ambient
        alpha = along(download.step_size, z)
        there = along(memory.version == download.version - 1, z)
        c = np.where(there, (memory.start - z) / along(download.reach, z) - memory.mean, 0.0)
        start = walk = w = nearest(z)
        total = np.zeros_like(start)
        for k, batch in enumerate(view.batches(self.batch, steps)):
            w = w if k == 0 else nearest(walk)
            g = self.slope(view, w, batch, k)
            walk = walk - alpha * (g + c)
            total += g
        return LocalResult(Ambient(walk), Visit(start, total / steps, download.version))

    def step(
        self, state: AmbientState, arrivals: Arrivals[AmbientBroadcast, Ambient], weights: Floats
    ) -> tuple[AmbientState, Mapping[str, float]]:
        """z_{t+1} = P(z_t) + eta_g sum_i w_i (z^_i - P(z_t)).

        With weights that sum to 1 it is (1 - eta_g) P(z_t) + eta_g times the mean of z^_i. A stale
        walk counts from where it began.
        """
        start = state.point
        if arrivals.stale.any():
            start = self._manifold.nearest(arrivals.download.ambient)
        v = self.algorithm.server_step * weighted_sum(weights, arrivals.payload.ambient - start)
        z = state.point + v
        norm = float(self._manifold.norm(state.point, v))
        return AmbientState(z, self._manifold.nearest(z)), {"step_norm": norm}

    def samples(self, clients: Ints) -> Floats:
        """K mini-batches."""
        return self.steps * self.problem.batch_samples(self.batch, clients)

    def download_bytes(self) -> int:
        """One array, two numbers and the round's number of 8 bytes."""
        return self.problem.point_bytes + 2 * self.problem.itemsize + 8

    def upload_bytes(self) -> int:
        """One array."""
        return self.problem.point_bytes

    @property
    def _manifold(self) -> NearestPoint:
        assert isinstance(self.problem.manifold, NearestPoint)
        return self.problem.manifold

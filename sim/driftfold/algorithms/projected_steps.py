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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftfold.algorithms.base import Arrivals, LocalResult, VectorPayload
from driftfold.algorithms.local_steps import Broadcast, LocalSteps, LocalWork, ServerPoint
from driftfold.algorithms.step_size import sizes_at
from driftfold.arrays import Array, Floats, along
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import Manifold, NearestPoint
from driftfold.manifolds.euclidean import Euclidean
from driftfold.optimizers.descend import Descend
from driftfold.registry import kind_of
from driftfold.tasks.base import Batch, Problem, View
from driftfold.trees import node

_NEVER = -2  # no version of the server's, nor the one before its first


@node
class AmbientState(ServerPoint):
    """Server state: the model P(z) (the first iterate itself at the start), and z."""

    ambient: Array = None


@node
class AmbientBroadcast(Broadcast):
    """Download: z in place of x_t, alpha_{t,k}, t, and how far a unit step went the round before.

    `reach` is eta_g sum_k alpha_{t-1,k}: P(z_{t-1}) minus z_t, divided by it, is the mean step.
    """

    version: Array = None
    reach: Array = None


@node
class Ambient(VectorPayload):
    """Payload: an array of the surrounding space; as a vector, the way to it from P(z)."""

    ambient: Array

    @classmethod
    def space(cls, manifold: Manifold) -> Manifold:
        """The surrounding space."""
        return Euclidean(sizes=manifold.shape)

    @classmethod
    def base(cls, manifold: Manifold, download: Any) -> Array:
        """P(z), where the walk begins and from where the server counts it."""
        assert isinstance(manifold, NearestPoint)
        return manifold.nearest(download.point)

    def to_vector(self, manifold: Manifold, x: Array) -> Array:
        """Return the difference to P(z)."""
        return self.ambient - x

    @classmethod
    def from_vector(cls, manifold: Manifold, x: Array, u: Array) -> "Ambient":
        """P(z) + u."""
        return Ambient(x + u)


@node
class Visit:
    """What a client keeps of the round it last took part in: P(z), its mean step, the number."""

    start: Array
    mean: Array
    version: Array


@dataclass(frozen=True)
class ProjectedSteps(LocalSteps[AmbientState]):
    """What the algorithms share that project after each step; `server.size` is eta_g."""

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
        if not isinstance(self.server, Descend):
            raise CapabilityError(
                f"clients of {kind_of(self)} read the mean step from how far the server went, and "
                f"with server {kind_of(self.server)!r} it goes elsewhere; choose server 'descend', "
                "or another algorithm, for example rfedags"
            )

    def begin(self, problem: Problem, x: Array) -> AmbientState:
        """Start at z = x."""
        return AmbientState(x, None, x)

    def memory(self, problem: Problem) -> Visit:
        """Return the memory of a client that never took part."""
        nothing = np.zeros_like(problem.initial_point())
        return Visit(nothing, nothing, np.array(_NEVER, dtype=np.int64))


@dataclass(frozen=True)
class ProjectedWork(LocalWork[AmbientState, AmbientBroadcast, Ambient]):
    """The exchange of a round: z down, where the client's own walk ended up."""

    algorithm: ProjectedSteps

    payload_kind = Ambient

    @abstractmethod
    def slope(self, view: View, w: Array, batch: Batch, k: int) -> Array:
        """Direction g of step k, from the batch's losses around w on the manifold."""

    @property
    def space(self) -> Manifold:
        """The surrounding space, in which the server adds."""
        return Euclidean(sizes=self.problem.manifold.shape)

    def broadcast(self, state: AmbientState, version: int) -> AmbientBroadcast:
        """Send z_t, alpha_{t,k}, t and eta_g sum_k alpha_{t-1,k}."""
        rule, dtype = self.algorithm.step_size, state.ambient.dtype
        before = sizes_at(rule, max(version - 1, 0), self.steps)
        total = sum(before) if len(before) > 1 else self.steps * before[0]
        assert isinstance(self.algorithm.server, Descend)
        return AmbientBroadcast(
            state.ambient,
            np.array(sizes_at(rule, version, self.steps), dtype),
            np.array(version),
            np.array(self.algorithm.server.size * total, dtype),
        )

    def local(
        self, download: AmbientBroadcast, view: View, memory: Visit, steps: int
    ) -> LocalResult[Ambient]:
        """K steps z^ <- z^ - alpha_k (g + c), g at w = P(z^), from z^ = P(z).

        c = (P(z_{t-1}) - z_t) / (eta_g sum_k alpha_{t-1,k}) - g_mean where the client responded in
        round t - 1, with its mean direction g_mean there; else 0.
        """
        nearest = self._manifold.nearest
        z = download.point
        there = along(memory.version == download.version - 1, z)
        c = np.where(there, (memory.start - z) / along(download.reach, z) - memory.mean, 0.0)
        start = walk = w = nearest(z)
        gone, length = np.zeros_like(start), 0.0
        for k, batch in enumerate(self.batches(download, view, steps)):
            w = w if k == 0 else nearest(walk)
            alpha, g = download.alpha(k), self.slope(view, w, batch, k)
            walk = walk - alpha * (g + c)
            gone, length = gone + alpha * g, length + alpha
        return LocalResult(Ambient(walk), Visit(start, gone / length, download.version))

    def step(
        self, state: AmbientState, arrivals: Arrivals[AmbientBroadcast, Ambient], weights: Floats
    ) -> tuple[AmbientState, Mapping[str, float]]:
        """z_{t+1} = P(z_t) + eta_g sum_i w_i (z^_i - P(z_t)).

        With weights that sum to 1 it is (1 - eta_g) P(z_t) + eta_g times the mean of z^_i. A stale
        walk counts from where it began.
        """
        start = state.point
        if arrivals.stale.any():
            start = self._manifold.nearest(arrivals.download.point)
        ways = arrivals.payload.to_vector(self.problem.manifold, start)
        moved, metrics = self.advance(state, arrivals, weights, ways, lambda p, v: p + v)
        z = moved.point
        return replace(moved, point=self._manifold.nearest(z), ambient=z), metrics

    def download_bytes(self) -> int:
        """One array, the step sizes, the reach, and the round's number of 8 bytes."""
        sizes = len(sizes_at(self.algorithm.step_size, 0, self.steps))
        return self.problem.point_bytes + (sizes + 1) * self.problem.itemsize + 8

    @property
    def _manifold(self) -> NearestPoint:
        assert isinstance(self.problem.manifold, NearestPoint)
        return self.problem.manifold

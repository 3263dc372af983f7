"""ZO-RFedProj: RFedProj without gradients, by differences of losses in random directions.

Wang et al.: arXiv 2507.22855, 2025. In place of the gradient of RFedProj stands

    g = (n / B) sum_b (f_i(P(w + mu u_b); xi_b) - f_i(w; xi_b)) / mu  u_b,

with one direction u_b for each sample xi_b of the mini-batch, uniform on the unit sphere of the
surrounding space R^n (for the Stiefel manifold n = d r). Its mean tends to the Riemannian gradient
as mu tends to 0, and its variance is n times the gradient's square. It is not projected onto the
tangent space.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.base import Phase
from driftfold.algorithms.projected_steps import AmbientState, ProjectedSteps, ProjectedWork
from driftfold.arrays import Array, Floats, Ints
from driftfold.errors import CapabilityError
from driftfold.registry import register
from driftfold.tasks.base import Batch, Problem, SampleLosses, View

_NUMBERS = 2**16
"""Of a client's directions that are drawn at a time: half a megabyte, which stays in cache."""


@register("zo_rfedproj")
@dataclass(frozen=True)
class ZoRFedProj(ProjectedSteps):
    """Clients step beside the manifold along estimates made of losses, and upload the end.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, "full", or a rule.
    step_size
        Local step size alpha, a number or a rule.
    combine
        How the server makes one array of those that arrive.
    server
        How far the server goes: its size is eta_g.
    smoothing
        Length mu of the step of a difference.
    """

    smoothing: Annotated[float, Gt(0)] = 1e-5

    def check(self, problem: Problem) -> None:
        """Require nearest points, losses of single samples, and numbers of double precision."""
        super().check(problem)
        nobody = np.zeros(0, dtype=np.int64)
        if not isinstance(problem.view(nobody, nobody), SampleLosses):
            raise CapabilityError(
                "zo_rfedproj needs the loss of each sample, and in this task a mini-batch has a "
                "loss only as a whole; choose an algorithm with gradients, for example rfedproj"
            )
        if problem.itemsize < 8:
            raise CapabilityError(
                "zo_rfedproj takes differences of nearly equal losses, which single precision "
                "cannot tell apart; set the task's precision to 'float64'"
            )

    def phases(self, problem: Problem) -> Sequence[Phase[AmbientState, Any, Any]]:
        """Return the one exchange of a round."""
        return (DifferenceWalk(self, problem),)


@dataclass(frozen=True)
class DifferenceWalk(ProjectedWork):
    """One round: along zeroth-order estimates."""

    algorithm: ZoRFedProj

    def slope(self, view: View, w: Array, batch: Batch, k: int) -> Array:
        """Estimate (n/B) sum_b (f_i(P(w + mu u_b); xi_b) - f_i(w; xi_b)) / mu u_b.

        Directions are normal numbers u divided by their length, addressed by client, dispatch and
        step; some samples at a time, so that memory stays small where points are large.
        """
        assert isinstance(view, SampleLosses)
        mu, shape = self.algorithm.smoothing, w.shape[w.ndim - len(self.problem.manifold.shape) :]
        n, lead = prod(shape), view.clients.shape
        total = np.zeros((*lead, 1, n))
        here = w.reshape(*lead, 1, *shape)
        for part, some in enumerate(_parts(batch, max(1, _NUMBERS // n))):
            count = some.weights.shape[-1]
            stream = view.stream(f"direction {k} {part}")
            u = stream.normal32(view.clients, view.dispatches, count * n).astype(np.float64)
            u = u.reshape(*lead, count, n)
            length = np.sqrt(np.vecdot(u, u))
            there = ((mu / length)[..., None] * u).reshape(*lead, count, *shape)
            there += here
            there = self._manifold.nearest(there)
            rise = view.sample_losses(there, some) - view.sample_losses(here, some)
            total += (some.weights * rise / length)[..., None, :] @ u
        return (n / mu * total).reshape(w.shape)

    def samples(self, clients: Ints, version: int) -> Floats:
        """K mini-batches, with two losses for each sample."""
        return 2 * super().samples(clients, version)


def _parts(batch: Batch, most: int) -> Iterator[Batch]:
    """The batch in pieces of at most `most` samples."""
    weights, rows = batch.weights, batch.indices
    if rows is None:
        rows = np.broadcast_to(np.arange(weights.shape[-1]), weights.shape)
    for first in range(0, weights.shape[-1], most):
        some = slice(first, first + most)
        yield Batch(rows[..., some], weights[..., some])

"""RFedProj: federated learning on submanifolds by projections, with corrected local steps.

Zhang, J., Hu, J., So, A. M.-C., Johansson, M.: "Nonconvex federated learning on compact smooth
submanifolds with heterogeneous data", NeurIPS 2024, Algorithm 1. It was analysed for full
participation; clients that were absent in the round before take uncorrected steps, as in the
RFedAGS experiments. The published method weights by 1/|S_t| (estimator "none").

    client i:  z^ = w = P(z);  K times:  z^ <- z^ - alpha (grad f_i(w; B_k) + c_i),  w = P(z^)
    server:    z <- (1 - eta_g) P(z) + (eta_g / |S_t|) sum_i z^_i
    model:     P(z)

The rule for absent clients has a price. Where client i takes part with probability p_i, one that
took part in the round before sends the mean step m in place of its own, and m_t is the mean over
the others' steps and m_{t-1}: what is minimised is sum_i p_i (1 - p_i) f_i in place of sum_i p_i
f_i of a plain mean, to order 1/N. With weights 1 / (p_i N) it is sum_i (1 - p_i) f_i, not F: there
the weights of RFedAGS do not repair what they repair elsewhere. (Our derivation; tested.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import Phase
from driftfold.algorithms.projected_steps import AmbientState, ProjectedSteps, ProjectedWork
from driftfold.arrays import Array
from driftfold.registry import register
from driftfold.tasks.base import Batch, Problem, View


@register("rfedproj")
@dataclass(frozen=True)
class RFedProj(ProjectedSteps):
    """Clients step beside the manifold along gradients at the projection, and upload the end.

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
    """

    def phases(self, problem: Problem) -> Sequence[Phase[AmbientState, Any, Any]]:
        """Return the one exchange of a round."""
        return (GradientWalk(self, problem),)


class GradientWalk(ProjectedWork):
    """One round: along Riemannian gradients."""

    def slope(self, view: View, w: Array, batch: Batch, k: int) -> Array:
        """Gradient grad f_i(w; B_k) in T_w M."""
        return view.gradient(w, batch)

"""FedAvg: local SGD, and the weighted mean of the models.

McMahan, B., et al.: "Communication-efficient learning of deep networks from decentralized data",
AISTATS 2017, Algorithm 1. The Euclidean case of RFedAvg, and of RFedAGS (where the sum of local
gradients is the way from x_t to the end point). Weights n_i / sum n of the paper come from a task
with `weighting = "samples"` and the estimator "none".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Gt

from driftfold.algorithms.aggregation import along, weighted_sum
from driftfold.algorithms.base import Arrivals, Endpoint, LocalResult, Phase
from driftfold.algorithms.local_steps import Broadcast, LocalSteps, LocalWork, ServerPoint
from driftfold.algorithms.step_size import Step
from driftfold.arrays import Floats
from driftfold.errors import CapabilityError
from driftfold.manifolds.euclidean import Euclidean
from driftfold.registry import register
from driftfold.tasks.base import Problem, View


@register("fedavg")
@dataclass(frozen=True)
class FedAvg(LocalSteps):
    """Clients upload the model after K local SGD steps.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, or "full".
    step_size
        Learning rate eta, a number or a rule.
    server_step
        Server learning rate; 1 is the mean of the models.
    """

    step_size: Step = 0.1
    server_step: Annotated[float, Gt(0)] = 1.0

    def check(self, problem: Problem) -> None:
        """Require a flat space."""
        if not isinstance(problem.manifold, Euclidean):
            raise CapabilityError(
                "fedavg averages models and needs a Euclidean space; the task is on "
                f"{type(problem.manifold).__name__}; choose rfedavg or rfedags"
            )

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        """Return the one exchange of a round."""
        return (LocalSGD(self, problem),)


@dataclass(frozen=True)
class LocalSGD(LocalWork[Endpoint]):
    """One round: the model down, the trained model up."""

    algorithm: FedAvg

    payload_kind = Endpoint

    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[Endpoint]:
        """Run w <- w - eta grad f_i(w; b), K times."""
        w = download.point
        eta = along(download.step_size, w)
        for batch in view.batches(self.algorithm.batch, steps):
            w = w - eta * view.gradient(w, batch)
        return LocalResult(Endpoint(w))

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Broadcast, Endpoint], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        """Move w to w + sum_i a_i (w_i - w): the weighted mean when the weights sum to 1."""
        moved = arrivals.payload.point - arrivals.download.point
        v = self.algorithm.server_step * weighted_sum(weights, moved)
        norm = float(self.problem.manifold.norm(state.point, v))
        return ServerPoint(state.point + v), {"step_norm": norm}

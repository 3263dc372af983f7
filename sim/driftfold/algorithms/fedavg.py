"""FedAvg: local SGD, and the weighted mean of the models.

McMahan, B., et al.: "Communication-efficient learning of deep networks from decentralized data",
AISTATS 2017, Algorithm 1. The Euclidean case of RFedAvg, and of RFedAGS (where the sum of local
gradients is the way from x_t to the end point). Weights n_i / sum n of the paper come from a task
with `weighting = "samples"` and the estimator "none".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import Arrivals, Endpoint, LocalResult, Phase
from driftfold.algorithms.local_steps import Broadcast, LocalWork, ServerPoint
from driftfold.algorithms.partial_work import PartialWork
from driftfold.algorithms.step_size import Step
from driftfold.arrays import Floats
from driftfold.errors import CapabilityError
from driftfold.manifolds.euclidean import Euclidean
from driftfold.registry import register
from driftfold.tasks.base import Problem, View


@register("fedavg")
@dataclass(frozen=True)
class FedAvg(PartialWork[ServerPoint]):
    """Clients upload the model after K local SGD steps.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, "full", or a rule.
    step_size
        Learning rate eta, a number or a rule.
    combine
        How the server makes one update of those that arrive.
    server
        How far, and which way, the server goes along it.
    """

    step_size: Step = 0.1

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
class LocalSGD(LocalWork[ServerPoint, Broadcast, Endpoint]):
    """One round: the model down, the trained model up."""

    algorithm: FedAvg

    payload_kind = Endpoint

    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[Endpoint]:
        """Run w <- w - eta_k grad f_i(w; B_k), K times."""
        w = download.point
        for k, batch in enumerate(self.batches(download, view, steps)):
            w = w - download.alpha(k) * view.gradient(w, batch)
        return LocalResult(Endpoint(w))

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Broadcast, Endpoint], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        """Move w to w + sum_i a_i (w_i - w): the weighted mean when the weights sum to 1."""
        moved = arrivals.payload.to_vector(self.problem.manifold, arrivals.download.point)
        return self.advance(state, arrivals, weights, moved, lambda w, v: w + v)

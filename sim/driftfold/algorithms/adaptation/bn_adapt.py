"""BN-adapt: the statistics of batch normalisations follow the data, and nothing else moves.

Schneider, S., Rusak, E., Eck, L., Bringmann, O., Brendel, W., Bethge, M.: "Improving robustness
against common corruptions by covariate shift adaptation", NeurIPS 2020; Nado, Z., Padhy, S.,
Sculley, D., D'Amour, A., Lakshminarayanan, B., Snoek, J.: "Evaluating prediction-time batch
normalization for robustness under covariate shift", arXiv 2006.10963. Nobody needs labels, and
there are no gradients.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from driftfold.algorithms.adaptation.base import Adapting
from driftfold.algorithms.adaptation.norm_exchange import (
    NormAdaptation,
    Normed,
    NormExchange,
    Numbers,
)
from driftfold.algorithms.adaptation.splitting import Server
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.errors import CapabilityError
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


@register("bn_adapt")
@dataclass(frozen=True)
class BnAdapt(NormAdaptation):
    """Normalise by what is met now instead of by what was met in training.

    Attributes
    ----------
    federated
        Whether what is adapted is averaged over the clients, or stays with each.
    statistics
        "batch": those of the batch that is predicted, and nothing is kept. "running": the running
        ones, which each batch moves after it was predicted, as in training: 0.1 of its own.
    """

    statistics: Literal["batch", "running"] = "batch"

    def check(self, problem: Problem) -> None:
        """Require that there is something to share where it is to be shared."""
        super().check(problem)
        if self.federated and self.statistics == "batch":
            raise CapabilityError(
                "algorithm 'bn_adapt' keeps nothing with statistics = \"batch\", so there is "
                'nothing to average; choose statistics = "running", or federated = false'
            )

    def which(self, problem: StreamProblem) -> Bools:
        """Running means and variances."""
        layout = problem.model.layout
        return layout.where(problem.model.norms) & layout.buffers

    def phases(self, problem: Problem) -> "Sequence[Adapting]":
        """One exchange."""
        assert isinstance(problem, StreamProblem)
        return (Following(self, problem),)

    def scores(
        self, problem: StreamProblem, state: Server, memory: Normed, view: StreamView
    ) -> Array:
        """Logits."""
        return self.logits(problem, self.present(problem, state, memory, view), view)

    def logits(self, problem: StreamProblem, theta: Array, view: StreamView) -> Array:
        """Logits of the batches, (k, n, K)."""
        mode: Literal["batch", "eval"] = "batch" if self.statistics == "batch" else "eval"
        return problem.model.forward(theta, view.inputs, mode).logits


@dataclass(frozen=True)
class Following(NormExchange):
    """Predict, and let the statistics follow."""

    algorithm: BnAdapt

    @property
    def steps(self) -> int:
        """One."""
        return 1

    def adapt(
        self, download: Numbers, view: StreamView, memory: Normed, steps: int
    ) -> LocalResult[Numbers]:
        """With running statistics, one pass more moves them."""
        rule, n = self.algorithm, self.problem.stream.size
        theta = self.met(download, memory)
        hits = after = view.hits(rule.logits(self.problem, theta, view))
        rates = np.zeros(len(hits))
        ledger = memory.ledger.opened(view.steps, hits, n, rates)
        if rule.statistics == "running":
            theta = self.problem.model.forward(theta, view.inputs, "follow").moved
            after = view.hits(rule.logits(self.problem, theta, view))
        own = theta[:, self.which]
        memory = replace(memory, ledger=ledger.closed(after), values=own)
        figures = {"step": view.steps, "accuracy": hits / n, "accuracy_after": after / n}
        return LocalResult(Numbers(self.sent(own)), memory, figures)

    def samples(self, clients: Ints, version: int) -> Floats:
        """No gradients."""
        return np.zeros(len(clients))

"""Predictions of a fixed model, reweighted by how often each class is believed to be there.

Under label shift alone the best classifier has f(x)_k p_k / pi_0,k in the place of f_0(x)_k: only
p has to be learned. With the mean of all estimates so far it is Follow The History, of Wu, R., Guo,
C., Su, Y., Weinberger, K. Q.: "Online adaptation to label distribution shift", NeurIPS 2021.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from driftfold.algorithms.adaptation.alone import Alone, Deployed
from driftfold.algorithms.adaptation.base import Adapted, Adapting, Nothing, OnTheirOwn
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array, Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.inverse import Inverse
from driftfold.label_shift.running_mean import RunningMean
from driftfold.label_shift.source import SourceFacts
from driftfold.label_shift.temperature import (
    Calibration,
    bias_corrected_temperature,
    log_probabilities,
)
from driftfold.registry import register
from driftfold.softmax import softmax
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node, spread


@node
class Believing(Adapted):
    """What a client keeps: the latest estimate p, shape (K,), and what estimates remember."""

    p: Array
    of_labels: Any


@register("prior_reweighting")
@dataclass(frozen=True)
class PriorReweighting(Alone):
    """argmax_k f_0(x)_k p_k / pi_0,k; the model stays as it is.

    Its own predictions take labels' place: of them p is estimated. By default it is Follow The
    History, with its mean of estimates that may be negative; a class of p <= 0 is never named.
    `running_mean` with a window is FTFWH, `rogd` is ROGD, and "now" with `inverse` is BBSE-now.

    Attributes
    ----------
    labels
        How p is estimated.
    when
        "past": a batch is predicted by the estimate from the batches before it (from the first one
        on, that is pi_0), and counts for the next one. "now": by the estimate that it is part of.
    calibrate
        How f_0 is calibrated on held-out source examples: by a "temperature", as the paper does;
        "bias_corrected", with a bias for each class; or "none".
    soft
        Whether predictions count with their probabilities, in M as in what is held against it.
    """

    labels: LabelEstimate[Any] = field(default_factory=lambda: RunningMean(Inverse(fix="none")))
    when: Literal["past", "now"] = "past"
    calibrate: Literal["temperature", "bias_corrected", "none"] = "temperature"
    soft: bool = False

    def check(self, problem: Problem) -> None:
        """Require streams, a calibration that can be had, and an estimate that can."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        facts = problem.source.facts(self.soft)
        self.calibration(facts)
        self.labels.estimate(spread(self.labels.begin(facts), 1), facts, facts.probabilities[None])

    def phases(self, problem: Problem) -> Sequence[Adapting]:
        """One, in which clients predict and look at what they predicted."""
        assert isinstance(problem, StreamProblem)
        return (Reweighting(self, problem),)

    def memory(self, problem: Problem) -> Believing:
        """Return what a client believes before its first batch."""
        assert isinstance(problem, StreamProblem)
        facts = problem.source.facts(self.soft)
        of_labels = self.labels.begin(facts)
        p = self.labels.belief(spread(of_labels, 1), facts, 1)[0]
        return Believing(blank(), np.array(p, np.float64), of_labels)

    def scores(
        self, problem: StreamProblem, state: Deployed, memory: Believing, view: StreamView
    ) -> Array:
        """Logits of f_0 plus log(p_k / pi_0,k); -inf where p_k <= 0."""
        logits = problem.model.forward(problem.source.start, view.inputs).logits
        p = memory.p
        if self.when == "now":
            met = ~memory.ledger.first(view.steps)
            p = chosen(met, p, self.estimated(problem, memory, logits)[0])
        return self.reweighted(problem, logits, p)

    def estimated(
        self, problem: StreamProblem, memory: Believing, logits: Array
    ) -> tuple[Floats, Any]:
        """Estimate p of batches with such logits (k, n, K), and the estimate's memory."""
        said = softmax(logits.astype(np.float64))
        return self.labels.estimate(memory.of_labels, problem.source.facts(self.soft), said)

    def reweighted(self, problem: StreamProblem, logits: Array, p: Floats) -> Floats:
        """Scores (k, n, K) of logits (k, n, K) and shares p (k, K)."""
        facts = problem.source.facts(self.soft)
        prior, scale = facts.prior, self.calibration(facts)
        known = (p > 0) & (prior > 0)
        ratio = np.where(known, p, 1.0) / np.where(prior > 0, prior, 1.0)
        moved = np.where(known, log_probabilities(ratio), -np.inf)
        made: Floats = logits.astype(np.float64) / scale.temperature + scale.bias + moved[:, None]
        return made

    def calibration(self, facts: SourceFacts) -> Calibration:
        """Temperature and biases, fitted once. Raises `DataError` where no temperature is best."""
        if self.calibrate == "bias_corrected":
            return facts.calibration
        if self.calibrate == "none":
            return Calibration(1.0, np.zeros(facts.classes))
        if "temperature" not in facts.fits:
            facts.fits["temperature"] = bias_corrected_temperature(
                facts.probabilities, facts.labels, bias=False, prior=facts.prior
            )
        return facts.fits["temperature"]


@dataclass(frozen=True)
class Reweighting(OnTheirOwn):
    """Clients answer by p, and estimate p."""

    algorithm: PriorReweighting

    def adapt(
        self, download: Nothing, view: StreamView, memory: Believing, steps: int
    ) -> LocalResult[Nothing]:
        """Answer; learn from a batch that is new; see what the answers would be now."""
        rule, problem, size = self.algorithm, self.problem, self.problem.stream.size
        logits = problem.model.forward(problem.source.start, view.inputs).logits
        first = memory.ledger.first(view.steps)
        new = rule.estimated(problem, memory, logits)
        p, of_labels = chosen(first, new, (memory.p, memory.of_labels))
        after = view.hits(rule.reweighted(problem, logits, p))
        before = after
        if rule.when == "past":
            before = view.hits(rule.reweighted(problem, logits, memory.p))
        none = np.zeros(len(before))
        ledger = memory.ledger.opened(view.steps, before, size, none).closed(after)
        figures = {"step": view.steps, "accuracy": before / size, "accuracy_after": after / size}
        return LocalResult(Nothing.of(len(after)), Believing(ledger, p, of_labels), figures)

"""Drift detection on a budget of labels: full speed, and a fresh head, for whom errors rise.

P(y|x) may change while P(x) stays: no signal of predictions or features can show it. So each client
asks for the labels of a few inputs a step, and a detector watches the errors that it makes there.
On drift

    phi_c <- mean of all heads,    eta_c = eta_max for the next H steps of the stream,

and eta_min at all other times. The rule is ours; its parts are known: Gama et al., "Learning with
drift detection", SBIA 2004, for what is watched, and a shared feature extractor with personal
heads, as in Fed-ADE (arXiv 2603.01040).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt

from driftfold.algorithms.adaptation.splitting import own_logits
from driftfold.algorithms.adaptation.whole_model import Learning, Sending, Whole, WholeModel
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array, Bools
from driftfold.detectors.base import Detector
from driftfold.detectors.ddm import Ddm
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.risks.labelled import labelled_rows
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node


@node
class Watched(Learning):
    """What a client keeps: also its head, what its detector remembers, and until when it hurries.

    `until` is the first step of the stream at which its rate is low again.
    """

    personal: Array
    of_detector: Any
    until: Array


@register("drift_detection")
@dataclass(frozen=True)
class DriftDetection(WholeModel):
    """A shared body and personal heads, with a detector on labelled errors at each client.

    Detector and risk ask for the same inputs' labels where their budgets are the same, so that they
    cost one budget. With the risk `pseudo_labels` labels serve detection alone.

    Attributes
    ----------
    risk
        What clients minimise.
    steps
        Steps of a client a round.
    detector
        What watches the errors.
    budget
        Labelled inputs of each client at each step that it watches.
    low, high
        eta_min, and eta_max on drift. Steps by few labels do harm sooner than others: bounds that
        suit `fedade` may be far too high.
    hold
        H, steps of the stream.
    restart
        Whether the head begins anew from the mean of all heads.
    """

    detector: Detector[Any] = field(default_factory=Ddm)
    budget: Annotated[int, Gt(0)] = 5
    low: Annotated[float, Ge(0)] = 0.03
    high: Annotated[float, Gt(0)] = 0.1
    hold: Annotated[int, Gt(0)] = 5
    restart: bool = True

    def check(self, problem: Problem) -> None:
        """Require streams, labels enough, rates in their order, and a detector that can work."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        if self.low > self.high:
            raise SpecError(
                f"algorithm 'drift_detection' goes from low to high, got low = {self.low} above "
                f"high = {self.high}; exchange them"
            )
        nobody = np.zeros(1, dtype=np.int64)
        labelled_rows(problem, nobody, nobody, self.budget)
        self.detector.begin()

    def phases(self, problem: Problem) -> Sequence[Sending]:
        """One."""
        assert isinstance(problem, StreamProblem)
        return (Watching(self, problem),)

    def begin(self, problem: Problem, x: Array) -> Whole:
        """Start from the trained model."""
        return Whole(x)

    def memory(self, problem: Problem) -> Watched:
        """The trained head."""
        assert isinstance(problem, StreamProblem)
        known = super().memory(problem)
        head = problem.source.start[problem.model.layout.where(problem.model.head)]
        none = np.zeros((), dtype=np.int64)
        return Watched(known.ledger, known.belief, known.of_risk, head, self.detector.begin(), none)

    def scores(
        self, problem: StreamProblem, state: Whole, memory: Watched, view: StreamView
    ) -> Array:
        """Logits of the server's body and the clients' own heads."""
        return own_logits(
            problem,
            state.theta,
            problem.model.layout.where(problem.model.head),
            memory.personal,
            view,
        )


@dataclass(frozen=True)
class Watching(Sending):
    """Predict, watch, begin anew on drift, descend; the server averages bodies and heads."""

    algorithm: DriftDetection

    @cached_property
    def own(self) -> Bools:
        """Which parameters are the head's, shape (P,)."""
        return self.problem.model.layout.where(self.problem.model.head)

    def broadcast(self, state: Whole, version: int) -> Whole:
        """Send the mean body and the mean head."""
        return state

    def adapt(
        self, download: Whole, view: StreamView, memory: Watched, steps: int
    ) -> LocalResult[Whole]:
        """Predict first; a batch that was watched before is not watched again."""
        rule, problem = self.algorithm, self.problem
        theta = download.theta.copy()
        theta[:, self.own] = memory.personal
        logits = self.predict(theta, view)
        rows = labelled_rows(problem, view.clients, view.steps, rule.budget)
        wrong = np.take_along_axis(logits.argmax(axis=-1) != view.truth, rows, axis=1)
        first = memory.ledger.first(view.steps)
        alarm, of_detector = rule.detector.watch(memory.of_detector, wrong)
        drifted = alarm.drift & first
        until = np.where(drifted, view.steps + rule.hold, memory.until)
        if rule.restart:
            theta = np.where(drifted[:, None] & self.own, download.theta, theta)
        rate = np.where(view.steps < until, rule.high, rule.low)
        memory = replace(
            memory,
            of_detector=chosen(first, of_detector, memory.of_detector),
            until=until,
        )
        memory, figures = self.meet(theta, logits, view, memory, rate)
        theta = self.descend(theta, view, memory, rate, steps)
        memory = replace(memory, personal=theta[:, self.own])
        memory, after = self.close(theta, view, memory)
        alarms = {"warning": alarm.warning * first * 1.0, "drift": drifted * 1.0}
        return LocalResult(Whole(theta), memory, {**figures, **after, **alarms})

    def advance(self, state: Whole, total: Array) -> tuple[Whole, Mapping[str, float]]:
        """Take the mean way."""
        return Whole(state.theta + total.astype(state.theta.dtype)), {}

    def download_bytes(self) -> int:
        """Body and head."""
        return self.upload_bytes()

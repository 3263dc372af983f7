"""What the released scripts of Fed-ADE do, which is not what the paper says.

The authors' scripts for the four image benchmarks of "Fed-ADE: adaptive learning rates for
federated post-adaptation under distribution shift", CVPR 2026 (arXiv 2603.01040), differ from its
algorithm (`fedade`) in these points, all of which are imitated here:

objective       entropy of the predictions on the client's batch; neither BBSE nor source data
S_unc           from the histogram of the named classes, of a pass in training mode: dropout is on,
                and the pass moves the running statistics; 0 at step 0
S_rep           of the mean feature, features not normalised one by one, against a reference that
                follows it: r <- (0.9 r + 0.1 c) normalised
a round         steps on the personal part, then on everything, then the server averages
aggregation     never comes back: clients adapt alone (`returns` mends it)
signals         in every round; later rounds of a step compare the same batch with itself
participation   a tenth of the clients a round, the same R lists at every step: a matter of cadence,
                `cohort` and the selection `repeated`; preset `fedade-digits-label-release` has it
evaluation      after the update, on the same batch, for everybody: "accuracy_everyone" at the end
                of a step. What counts in practice, before the update, is told here as well.

So these scripts measure entropy minimisation of clients by themselves. Not a matter of the
algorithm, and left to the task: pictures from 0 to 255 in two of the benchmarks, and a stream of
Tiny ImageNet whose labels do not shift.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Adapting
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.adaptation.splitting import Body, Server
from driftfold.algorithms.base import Arrivals, LocalResult
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.combinations.aggregation import weighted_sum
from driftfold.errors import CapabilityError, SpecError
from driftfold.nets.base import Mode
from driftfold.rates.base import moved
from driftfold.registry import register
from driftfold.risks.entropy import Entropy
from driftfold.risks.scene import Scene
from driftfold.signals.base import Observed, Sizes
from driftfold.signals.moving_representation import MovingRepresentation
from driftfold.signals.uncertainty import Uncertainty
from driftfold.softmax import softmax
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import node


@node
class Whole(Adapted):
    """What a client keeps: its whole model, and what the two signals remember."""

    theta: Array
    of_classes: Any
    of_features: Any


@register("fedade_release")
@dataclass(frozen=True)
class FedADERelease(Adaptation):
    """Entropy steps of clients by themselves, at rates that follow what the scripts measure.

    Attributes
    ----------
    low, high
        eta_min and eta_max; the scripts' for label shift on CIFAR-10.
    local_steps
        E, of each of the two sorts of steps.
    keep
        Share of the reference of S_rep that stays.
    mode
        How the passes of the steps treat normalisation and dropout.
    personal
        Names of the personal parameters, or beginnings of them; None: the net's head.
    returns
        Whether the mean of the shared parts reaches clients, at the beginning of their next round,
        as it was meant to.
    """

    low: Annotated[float, Ge(0)] = 1e-5
    high: Annotated[float, Gt(0)] = 1e-3
    local_steps: Annotated[int, Ge(1)] = 2
    keep: Annotated[float, Ge(0), Lt(1)] = 0.9
    mode: Mode = "train"
    personal: tuple[str, ...] | None = None
    returns: bool = False

    def check(self, problem: Problem) -> None:
        """Require streams, and personal parameters that are there."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        self.own(problem)
        if problem.model.norms and problem.stream.size < 2:
            raise CapabilityError(
                "algorithm 'fedade_release' measures in training mode, which needs the statistics "
                "of a batch, and a batch of 1 has none; raise task.batch to 2 or more"
            )
        if self.low > self.high:
            raise SpecError(
                f"algorithm 'fedade_release' has rates between low and high, got low = {self.low} "
                f"above high = {self.high}; exchange them"
            )

    def phases(self, problem: Problem) -> "Sequence[Adapting]":
        """One exchange."""
        assert isinstance(problem, StreamProblem)
        return (Scripted(self, problem),)

    def begin(self, problem: Problem, x: Array) -> Server:
        """Start from the trained model."""
        return Server(x)

    def model(self, state: Server) -> Array:
        """The mean of the shared parts, which nobody may ever get, with the trained head."""
        return state.theta

    def memory(self, problem: Problem) -> Whole:
        """Return the trained model, and signals that have seen nothing."""
        assert isinstance(problem, StreamProblem)
        sizes = Sizes(problem.model.classes, problem.model.features)
        unc, rep = self.signals
        return Whole(blank(), problem.source.start, unc.begin(sizes), rep.begin(sizes))

    def own(self, problem: StreamProblem) -> Bools:
        """Which parameters are personal, shape (P,)."""
        return problem.model.layout.where(self.personal or problem.model.head)

    @property
    def signals(self) -> tuple[Uncertainty, MovingRepresentation]:
        """S_unc and S_rep."""
        return Uncertainty(hard=True), MovingRepresentation(self.keep)

    def scores(
        self, problem: StreamProblem, state: Server, memory: Whole, view: StreamView
    ) -> Array:
        """Logits of the clients' own models."""
        theta = memory.theta
        if self.returns:
            theta = np.where(self.own(problem), theta, state.theta)
        return problem.model.forward(theta, view.inputs).logits


@dataclass(frozen=True)
class Scripted(Adapting):
    """One round of the scripts."""

    algorithm: FedADERelease
    payload_kind = Body

    @cached_property
    def own(self) -> Bools:
        """Which parameters are personal, shape (P,)."""
        return self.algorithm.own(self.problem)

    @property
    def steps(self) -> int:
        """Steps of both sorts."""
        return 2 * self.algorithm.local_steps

    def broadcast(self, state: Server, version: int) -> Body:
        """Send the mean, if it is to come back; else nothing of it."""
        return Body(state.theta[~self.own] if self.algorithm.returns else state.theta[:0])

    def adapt(
        self, download: Body, view: StreamView, memory: Whole, steps: int
    ) -> LocalResult[Body]:
        """Predict, measure, and descend: the personal part first, then everything."""
        rule, problem, size = self.algorithm, self.problem, self.problem.stream.size
        theta = memory.theta.copy()
        if rule.returns:
            theta[:, ~self.own] = download.shared
        hits = view.hits(problem.model.forward(theta, view.inputs).logits)
        eta, figures, theta, memory = self._measured(theta, view, memory)
        ledger = memory.ledger.opened(view.steps, hits, size, eta)
        scene, risk = Scene.of(problem, view), Entropy()
        for turn in range(steps):
            only = self.own if turn < rule.local_steps else None
            slope = risk.slope(theta, scene, None, rule.mode, 1 + turn, only)
            g = slope.gradient if only is None else np.where(only, slope.gradient, 0)
            theta = moved(slope.moved, eta, g)
        after = view.hits(problem.model.forward(theta, view.inputs).logits)
        told = {"accuracy": hits / size, "accuracy_after": after / size, "rate": eta}
        memory = replace(memory, ledger=ledger.closed(after), theta=theta)
        return LocalResult(
            Body(theta[:, ~self.own]), memory, {"step": view.steps, **told, **figures}
        )

    def _measured(
        self, theta: Array, view: StreamView, memory: Whole
    ) -> tuple[Floats, Mapping[str, Floats], Array, Whole]:
        """Rates (k,), figures, and the models with the statistics that measuring moved."""
        rule, model = self.algorithm, self.problem.model
        trained = model.forward(theta, view.inputs, "train", view.masks(0))
        theta = trained.moved
        features = model.forward(theta, view.inputs).features
        said = softmax(trained.logits)
        known = memory.ledger.step >= 0
        at_zero = view.steps == 0
        unc, rep = rule.signals
        s_unc, of_classes = unc.measure(
            memory.of_classes, Observed(said, features, (known & ~at_zero).astype(np.int64))
        )
        s_rep, of_features = rep.measure(
            memory.of_features, Observed(said, features, known.astype(np.int64))
        )
        s = 0.5 * (s_unc + s_rep)
        figures = {"signal": s, "signal_0": s_unc, "signal_1": s_rep}
        memory = replace(memory, of_classes=of_classes, of_features=of_features)
        return rule.low + (rule.high - rule.low) * s, figures, theta, memory

    def step(
        self, state: Server, arrivals: Arrivals[Body, Body], weights: Floats
    ) -> tuple[Server, Mapping[str, float]]:
        """The mean of the shared parts that came, weights made to add up to 1."""
        theta = state.theta.copy()
        theta[~self.own] = weighted_sum(weights / weights.sum(), arrivals.payload.shared)
        return Server(theta), {}

    def samples(self, clients: Ints, version: int) -> Floats:
        """The batch at every step."""
        return np.full(len(clients), float(self.steps * self.problem.stream.size))

    def download_bytes(self) -> int:
        """The shared part, if it comes back."""
        return self.upload_bytes() * self.algorithm.returns

    def upload_bytes(self) -> int:
        """The shared part."""
        return int((~self.own).sum()) * self.problem.itemsize

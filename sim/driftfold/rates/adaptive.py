"""Rates that follow drift signals: the rule of Fed-ADE (arXiv 2603.01040).

eta = eta_min + (eta_max - eta_min) S, where S is the mean of how far a client's predictions and its
features have turned since its last batch. The paper's theorem asks for another rule, a rate that is
the cube root of the mean signal so far: "cube_root".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Array, Floats
from driftfold.errors import SpecError
from driftfold.lanes import in_whole_vectors
from driftfold.rates.base import Meeting, Rate
from driftfold.registry import register
from driftfold.signals.base import Signal, Sizes
from driftfold.signals.combined import Combined, said_one_by_one
from driftfold.signals.representation import Representation
from driftfold.signals.uncertainty import Uncertainty
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.trees import node


@node
class SignalMemory:
    """Of each client: the signal's own memory, the latest signal, the sum of all and their number.

    `inputs` is the last batch where signals are to be had without the model's own change, else
    empty.
    """

    own: Any
    latest: Array
    total: Array
    count: Array
    inputs: Array


@register("adaptive")
@dataclass(frozen=True)
class Adaptive(Rate):
    """eta_min + (eta_max - eta_min) S, between two bounds.

    Attributes
    ----------
    low, high
        eta_min and eta_max.
    signal
        S, from 0 to 1.
    rule
        "affine" in the present S, or "cube_root" of the mean of all S so far.
    recompute
        Whether the last batch is embedded anew by the present model, so that S tells of data alone
        and not of how the model has changed since.
    signal_every
        Whether S is measured once a "step" of the stream, or in every "round" of it, as in the
        released scripts: later rounds compare a batch with itself, by the model before and after
        the last one, so that S is about 0 there.
    """

    low: Annotated[float, Ge(0)] = 0.03
    high: Annotated[float, Gt(0)] = 1.0
    signal: Signal[Any] = field(default_factory=lambda: Combined((Uncertainty(), Representation())))
    rule: Literal["affine", "cube_root"] = "affine"
    recompute: bool = False
    signal_every: Literal["step", "round"] = "step"

    @property
    def every_round(self) -> bool:
        """As configured."""
        return self.signal_every == "round"

    def begin(self, problem: StreamProblem) -> SignalMemory:
        """Nothing seen yet. Raises `SpecError` for bounds in the wrong order."""
        if self.low > self.high:
            raise SpecError(
                f"rate 'adaptive' lies between low and high, got low = {self.low} above high = "
                f"{self.high}; exchange them"
            )
        model = problem.model
        batch = (problem.stream.size, *model.inputs) if self.recompute else (0,)
        return SignalMemory(
            self.signal.begin(Sizes(model.classes, model.features, problem.held)),
            np.zeros(()),
            np.zeros(()),
            np.zeros((), dtype=np.int64),
            np.zeros(batch, model.dtype),
        )

    def meet(
        self, problem: StreamProblem, memory: SignalMemory, meeting: Meeting
    ) -> tuple[Floats, SignalMemory]:
        """Measure S, and set the rate by it."""
        own = memory.own
        if self.recompute:
            own = self.signal.recall(own, meeting.look(memory.inputs))
        s, own = self.signal.measure(own, meeting.observed)
        total, count = memory.total + s, memory.count + 1
        share = s if self.rule == "affine" else in_whole_vectors(np.cbrt, total / count)
        inputs = meeting.inputs if self.recompute else memory.inputs
        eta = self.low + (self.high - self.low) * share
        return eta, SignalMemory(own, s, total, count, inputs)

    def told(self, memory: SignalMemory) -> Mapping[str, Floats]:
        """S, and what it is made of, by number."""
        figures = {"signal": memory.latest}
        parts = said_one_by_one(memory.own)
        if parts is not None:
            figures |= {f"signal_{i}": each for i, each in enumerate(parts.T)}
        return figures

"""The probability that another signal has just changed its level."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Lt

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Signal, Sizes
from driftfold.signals.normal_runs import NormalRuns, Runs
from driftfold.trees import node, rows


@node
class Levels:
    """Of each client: beliefs about the signal's present run, and the signal's own memory."""

    runs: Runs
    inner: Any


@register("change_point")
@dataclass(frozen=True)
class ChangePoint(Signal[Levels]):
    """P(run length <= 1) of another signal's values, by Bayesian online change-point detection.

    Adams, R. P., MacKay, D. J. C., 2007: a row of Fed-ADE's ablation. It answers a change of the
    signal's level, not its height: steady drift counts as none. It is 0 at a client's first two
    batches: the first value of all begins a run in any case.

    Attributes
    ----------
    signal
        Whose values are watched.
    scale
        What values are multiplied by: 2 for `representation` makes them 1 - cos.
    hazard
        Probability of a change between two batches.
    mean, weight, shape, spread
        Normal-inverse-gamma prior of a run: mu, kappa, alpha, beta.
    longest
        Run length from which on lengths are not told apart. Memory is three numbers each.

    Examples
    --------
    >>> from driftfold.signals.uncertainty import Uncertainty
    >>> from driftfold.trees import spread
    >>> signal, shown = ChangePoint(Uncertainty()), np.ones((1, 2, 3))
    >>> memory = spread(signal.begin(Sizes(2, 3)), 1)
    >>> for step, both in enumerate([1] * 30 + [0]):
    ...     batch = Observed(np.eye(2)[[[0, both]]], shown, np.array([min(step, 1)]))
    ...     s, memory = signal.measure(memory, batch)
    >>> s.round(2)
    array([0.91])
    """

    signal: Signal[Any]
    scale: Annotated[float, Gt(0)] = 1.0
    hazard: Annotated[float, Gt(0), Lt(1)] = 0.01
    mean: float = 0.0
    weight: Annotated[float, Gt(0)] = 1.0
    shape: Annotated[float, Gt(0)] = 1.0
    spread: Annotated[float, Gt(0)] = 0.01
    longest: Annotated[int, Gt(1)] = 100

    def begin(self, sizes: Sizes) -> Levels:
        """A run of length 0."""
        return Levels(rows(self._rule().begin(1), 0), self.signal.begin(sizes))

    def compare(self, memory: Levels, observed: Observed) -> tuple[Floats, Levels]:
        """Return the probability that the run has just begun, and the beliefs."""
        value, inner = self.signal.measure(memory.inner, observed)
        seen = observed.seen
        runs = self._rule().see(memory.runs, self.scale * value)
        known = memory.runs.share[:, 0] < 1  # else there was no value to compare with
        fresh = runs.share[:, 0] + runs.share[:, 1]
        kept = Runs(
            np.where(seen[:, None], runs.share, memory.runs.share),
            np.where(seen[:, None], runs.mean, memory.runs.mean),
            np.where(seen[:, None], runs.spread, memory.runs.spread),
        )
        return np.clip(np.where(seen & known, fresh, 0.0), 0.0, 1.0), Levels(kept, inner)

    def replace(self, memory: Levels, observed: Observed) -> Levels:
        """Pass on: values that were seen stay."""
        return Levels(memory.runs, self.signal.recall(memory.inner, observed))

    def _rule(self) -> NormalRuns:
        prior = self.mean, self.weight, self.shape, self.spread
        return NormalRuns(self.hazard, *prior, self.longest)

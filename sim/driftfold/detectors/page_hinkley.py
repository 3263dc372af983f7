"""Page-Hinkley: a cumulative sum of errors above their mean.

Page, E. S.: "Continuous inspection schemes", Biometrika 41, 1954; with forgetting as in river.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le

from driftfold.arrays import Array, Bools
from driftfold.detectors.base import Alarm, Detector
from driftfold.registry import register
from driftfold.trees import node


@node
class Sums:
    """Of each client: inputs and their mean error since the last drift, m and its minimum M."""

    count: Array
    mean: Array
    total: Array
    least: Array


@register("page_hinkley")
@dataclass(frozen=True)
class PageHinkley(Detector[Sums]):
    """Drift at m - M > threshold, where m = alpha m + x - mean - delta and M is the least m so far.

    x is 1 for an error and 0 else. It gives no warnings. Thresholds that are usual for long streams
    (50, with delta = 0.005) are out of reach of a few labels a step; the defaults are ours.

    Attributes
    ----------
    warm_up
        Inputs before anything is said.
    delta
        How much more than the mean is let pass.
    threshold
        How many errors too many are drift.
    forgetting
        alpha.

    Examples
    --------
    >>> detector = PageHinkley(threshold=5.0)
    >>> from driftfold.trees import spread
    >>> memory = spread(detector.begin(), 1)
    >>> errors = np.arange(40) % 4 == 0  # a quarter
    >>> alarm, memory = detector.watch(memory, errors[None])
    >>> alarm.drift, detector.watch(memory, np.ones((1, 20), dtype=bool))[0].drift
    (array([False]), array([ True]))
    """

    warm_up: Annotated[int, Gt(0)] = 30
    delta: Annotated[float, Ge(0)] = 0.05
    threshold: Annotated[float, Gt(0)] = 10.0
    forgetting: Annotated[float, Gt(0), Le(1)] = 0.9999

    def begin(self) -> Sums:
        """Nothing seen."""
        return Sums(np.zeros((), dtype=np.int64), np.zeros(()), np.zeros(()), np.zeros(()))

    def watch(self, memory: Sums, errors: Bools) -> tuple[Alarm, Sums]:
        """Add them up one after the other."""
        count, mean, total, least = memory.count, memory.mean, memory.total, memory.least
        drifted = np.zeros(len(errors), dtype=bool)
        for error in errors.T.astype(np.float64):
            count = count + 1
            mean = mean + (error - mean) / count
            total = self.forgetting * total + error - mean - self.delta
            least = np.where(count == 1, total, np.minimum(least, total))
            now = (count >= self.warm_up) & (total - least > self.threshold)
            drifted = drifted | now
            count = np.where(now, 0, count)
            mean, total, least = (np.where(now, 0.0, x) for x in (mean, total, least))
        return Alarm(np.zeros_like(drifted), drifted), Sums(count, mean, total, least)

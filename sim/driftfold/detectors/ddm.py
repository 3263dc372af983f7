"""DDM: errors that have become significantly more frequent than when they were fewest.

Gama, J., Medas, P., Castillo, G., Rodrigues, P.: "Learning with drift detection", SBIA 2004.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Bools
from driftfold.detectors.base import Alarm, Detector
from driftfold.registry import register
from driftfold.trees import node


@node
class Fewest:
    """Of each client: inputs and errors since the last drift; p_min and s_min (1, 1 at first)."""

    count: Array
    errors: Array
    p: Array
    s: Array


@register("ddm")
@dataclass(frozen=True)
class Ddm(Detector[Fewest]):
    """Warning at p + s >= p_min + 2 s_min, drift at p + s >= p_min + 3 s_min.

    p is the share of errors among i inputs since the last drift, s = sqrt(p (1 - p) / i), and p_min
    and s_min are those of the least p + s so far. A detector that has seen no error at all takes
    the first one for drift.

    Attributes
    ----------
    warm_up
        Inputs before anything is said.
    warning, drift
        Multiples of s_min.

    Examples
    --------
    >>> detector = Ddm()
    >>> from driftfold.trees import spread
    >>> memory = spread(detector.begin(), 1)
    >>> errors = np.arange(40) % 4 == 0  # a quarter
    >>> alarm, memory = detector.watch(memory, errors[None])
    >>> alarm.drift, detector.watch(memory, np.ones((1, 20), dtype=bool))[0].drift
    (array([False]), array([ True]))
    """

    warm_up: Annotated[int, Gt(0)] = 30
    warning: Annotated[float, Gt(0)] = 2.0
    drift: Annotated[float, Gt(0)] = 3.0

    def begin(self) -> Fewest:
        """Nothing seen."""
        none = np.zeros((), dtype=np.int64)
        return Fewest(none, none, np.ones(()), np.ones(()))

    def watch(self, memory: Fewest, errors: Bools) -> tuple[Alarm, Fewest]:
        """Count them one after the other."""
        count, wrong, least_p, least_s = memory.count, memory.errors, memory.p, memory.s
        warned = drifted = np.zeros(len(errors), dtype=bool)
        for error in errors.T:
            count, wrong = count + 1, wrong + error
            p = wrong / count
            s = np.sqrt(p * (1 - p) / count)
            least = (count >= self.warm_up) & (p + s <= least_p + least_s)
            least_p, least_s = np.where(least, p, least_p), np.where(least, s, least_s)
            # Without any error both sides are 0, which is no reason for an alarm.
            more = (count >= self.warm_up) & (p + s > least_p + least_s)
            warned = warned | (more & (p + s >= least_p + self.warning * least_s))
            now = more & (p + s >= least_p + self.drift * least_s)
            drifted = drifted | now
            count, wrong = np.where(now, 0, count), np.where(now, 0, wrong)
            least_p, least_s = np.where(now, 1.0, least_p), np.where(now, 1.0, least_s)
        return Alarm(warned, drifted), Fewest(count, wrong, least_p, least_s)

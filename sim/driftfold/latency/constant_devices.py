"""Devices that are all alike."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats
from driftfold.latency.devices import Devices, Pace
from driftfold.latency.jitter import Cv, log_sd
from driftfold.registry import register


@register("constant")
@dataclass(frozen=True)
class ConstantDevices(Devices):
    """Every client computes equally fast.

    Attributes
    ----------
    seconds
        Seconds for one sample gradient.
    cv
        Coefficient of variation of one client's time from dispatch to dispatch.

    Examples
    --------
    >>> ConstantDevices(seconds=0.02).pace(np.zeros(2)).seconds
    array([0.02, 0.02])
    """

    seconds: Annotated[float, Ge(0)] = 0.0
    cv: Cv = 0.0

    def pace(self, scores: Floats) -> Pace:
        """Return the one pace, whatever the scores."""
        size = len(scores)
        return Pace(np.full(size, float(self.seconds)), np.full(size, log_sd(self.cv)))

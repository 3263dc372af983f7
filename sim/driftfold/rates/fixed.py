"""One rate for all: FixLR of the Fed-ADE paper."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.rates.base import Meeting, Rate
from driftfold.registry import register
from driftfold.tasks.streams.problem import StreamProblem


@register("fixed_rate")
@dataclass(frozen=True)
class FixedRate(Rate):
    """The same rate at every step.

    Attributes
    ----------
    rate
        eta.
    """

    rate: Annotated[float, Gt(0)] = 0.1

    def meet(self, problem: StreamProblem, memory: Any, meeting: Meeting) -> tuple[Floats, Any]:
        """Return eta."""
        return np.full(len(meeting.clients), self.rate), memory

"""Links that are all alike."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats
from driftfold.latency.jitter import Cv, log_sd
from driftfold.latency.links import Links, Rates
from driftfold.registry import register


@register("constant")
@dataclass(frozen=True)
class ConstantLinks(Links):
    """Every client has the same link.

    Attributes
    ----------
    down, up
        Rates in bytes per second.
    round_trip
        Seconds that any transfer takes beside bytes / rate, even an empty one.
    down_cv, up_cv
        Coefficient of variation of one client's rate from dispatch to dispatch.

    Examples
    --------
    >>> ConstantLinks(down=2e6, up=1e6).rates(np.zeros((2, 3))).down
    array([2000000., 2000000.])
    """

    down: Annotated[float, Gt(0)] = 540_000.0
    up: Annotated[float, Gt(0)] = 410_000.0
    round_trip: Annotated[float, Ge(0)] = 0.0
    down_cv: Cv = 0.0
    up_cv: Cv = 0.0

    def rates(self, scores: Floats) -> Rates:
        """Return the one link, whatever the scores."""
        size = len(scores)
        return Rates(
            down=np.full(size, float(self.down)),
            up=np.full(size, float(self.up)),
            round_trip=np.full(size, float(self.round_trip)),
            down_jitter=np.full(size, log_sd(self.down_cv)),
            up_jitter=np.full(size, log_sd(self.up_cv)),
        )

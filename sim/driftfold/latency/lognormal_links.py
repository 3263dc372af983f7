"""Links whose rates are log-normally spread."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Interval

from driftfold.arrays import Floats
from driftfold.latency.jitter import Cv, Sigma, exp, log_sd
from driftfold.latency.links import Links, Rates
from driftfold.registry import register


@register("lognormal")
@dataclass(frozen=True)
class LognormalLinks(Links):
    """Rates down and up are median * exp(spread score), so log-normal, with correlated scores.

    Attributes
    ----------
    down, up
        Median rates over clients, in bytes per second.
    down_spread, up_spread
        Sigma of ln(rate) over clients.
    correlation
        Correlation of ln(down rate) and ln(up rate) over clients.
    down_cv, up_cv
        Coefficient of variation of one client's rate from dispatch to dispatch.
    round_trip
        Median seconds that any transfer takes beside bytes / rate, even an empty one.
    round_trip_spread
        Sigma of ln(round trip) over clients.

    Notes
    -----
    Spreads, correlation and variation are those of the 19 profiles published with FLASH (Yang et
    al., WWW 2021). Its units are inconsistent, so the medians are of their order only: 4.3 and
    3.3 Mbit/s. It has no round trips.

    Examples
    --------
    >>> LognormalLinks().rates(np.array([[1.0, 0.0, 0.0]])).down.round()
    array([863997.])
    """

    down: Annotated[float, Gt(0)] = 540_000.0
    up: Annotated[float, Gt(0)] = 410_000.0
    down_spread: Sigma = 0.47
    up_spread: Sigma = 0.68
    correlation: Annotated[float, Interval(ge=-1, le=1)] = 0.45
    down_cv: Cv = 0.37
    up_cv: Cv = 0.40
    round_trip: Annotated[float, Ge(0)] = 0.0
    round_trip_spread: Sigma = 0.0

    def rates(self, scores: Floats) -> Rates:
        """Return each client's link; scores, shape (N, 3), are of down, up and round trip."""
        size, rho = len(scores), self.correlation
        upward = rho * scores[:, 0] + math.sqrt(1 - rho**2) * scores[:, 1]
        return Rates(
            down=self.down * exp(self.down_spread * scores[:, 0]),
            up=self.up * exp(self.up_spread * upward),
            round_trip=self.round_trip * exp(self.round_trip_spread * scores[:, 2]),
            down_jitter=np.full(size, log_sd(self.down_cv)),
            up_jitter=np.full(size, log_sd(self.up_cv)),
        )

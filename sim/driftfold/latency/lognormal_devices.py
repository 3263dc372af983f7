"""Devices whose speeds are log-normally spread."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats
from driftfold.latency.devices import Devices, Pace
from driftfold.latency.jitter import Cv, Sigma, exp, log_sd
from driftfold.registry import register

Measured: TypeAlias = Literal["phones", "desktops", "fedscale"]

SPREADS: Mapping[Measured, float] = {"phones": 1.36, "desktops": 0.46, "fedscale": 0.6}
"""Sigma of ln(time) over devices, by the name of the population."""


@register("lognormal")
@dataclass(frozen=True)
class LognormalDevices(Devices):
    """Seconds for a sample are median * exp(-spread score), so log-normal over clients.

    Attributes
    ----------
    median
        Median over clients of the seconds for one sample gradient.
    spread
        Sigma of ln(seconds) over clients, or the name of a population: `phones` 1.36 (307 phone
        models of the AI Benchmark list), `desktops` 0.46 (930 desktops and laptops, "prog" test of
        the R package benchmarkmeData), `fedscale` 0.6 (what FedScale assumes without traces).
    cv
        Coefficient of variation of one client's time from dispatch to dispatch.

    Notes
    -----
    The default median is FedScale's: 5 ms times the median e of its log-normal with mu = 1 (Lai et
    al., ICML 2022); no list of benchmarks knows how long your model takes. In the list of phones
    the 95th percentile is 60 times the 5th, a little less than the law's 88 times.
    Times of a batch vary by 1 to 18 % within a device (FLASH, Yang et al., WWW 2021).

    Examples
    --------
    >>> LognormalDevices(median=0.01, spread=1.0).pace(np.array([0.0, -1.0])).seconds.round(4)
    array([0.01  , 0.0272])
    """

    median: Annotated[float, Ge(0)] = 0.0136
    spread: Sigma | Measured = "phones"
    cv: Cv = 0.05

    def pace(self, scores: Floats) -> Pace:
        """Return each client's pace; ln(seconds) falls linearly with the score, shape (N,)."""
        spread = SPREADS[self.spread] if isinstance(self.spread, str) else self.spread
        seconds = self.median * exp(-spread * scores)
        return Pace(seconds, np.full(len(scores), log_sd(self.cv)))

"""Types of device, each with its share of the clients."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats
from driftfold.latency.devices import Pace
from driftfold.latency.jitter import Cv, log_sd


@dataclass(frozen=True)
class DeviceType:
    """One type of device.

    Attributes
    ----------
    share
        Its share of the clients; shares are divided by their sum.
    seconds
        Seconds for one sample gradient.
    cv
        Coefficient of variation of one client's time from dispatch to dispatch.
    """

    share: Annotated[float, Gt(0)]
    seconds: Annotated[float, Ge(0)]
    cv: Cv = 0.0


def pace_of_types(types: Sequence[DeviceType], scores: Floats) -> Pace:
    """Return the paces of clients with these scores, shape (N,); the highest have the fastest type.

    >>> types = [DeviceType(0.5, seconds=1.0), DeviceType(0.5, seconds=2.0)]
    >>> pace_of_types(types, np.array([-0.1, 0.1])).seconds
    array([2., 1.])
    """
    order = sorted(types, key=lambda one: -one.seconds)
    shares = np.cumsum([one.share for one in order])
    bounds = [NormalDist().inv_cdf(share) for share in (shares[:-1] / shares[-1]).tolist()]
    chosen = np.searchsorted(np.array(bounds), scores, side="right")
    seconds = np.array([one.seconds for one in order], np.float64)
    jitter = np.array([log_sd(one.cv) for one in order])
    return Pace(seconds[chosen], jitter[chosen])

"""Devices of a few types, each with its share."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import MinLen

from driftfold.arrays import Floats
from driftfold.latency.device_types import DeviceType, pace_of_types
from driftfold.latency.devices import Devices, Pace
from driftfold.registry import register


@register("mix")
@dataclass(frozen=True)
class DeviceMix(Devices):
    """Each client has one of a few types of device, with a probability that is the type's share.

    Attributes
    ----------
    types
        Each with its `share` of the clients (shares are divided by their sum), `seconds` for one
        sample gradient, and optionally `cv`, the coefficient of variation of one client's time from
        dispatch to dispatch.

    Examples
    --------
    >>> import numpy as np
    >>> mix = DeviceMix((DeviceType(0.9, seconds=1.0), DeviceType(0.1, seconds=0.1)))
    >>> mix.pace(np.array([-1.0, 0.0, 2.0])).seconds
    array([1. , 1. , 0.1])
    """

    types: Annotated[tuple[DeviceType, ...], MinLen(1)]

    def pace(self, scores: Floats) -> Pace:
        """Return each client's pace; the highest scores have the fastest type, shape (N,)."""
        return pace_of_types(self.types, scores)

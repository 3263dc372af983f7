"""The three phones of FLASH, as measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from driftfold.arrays import Floats
from driftfold.latency.device_types import DeviceType, pace_of_types
from driftfold.latency.devices import Devices, Pace
from driftfold.registry import register

Workload: TypeAlias = Literal["femnist", "celeba", "reddit", "shakespeare"]

_SHARES = (0.532, 0.464, 0.004)  # Nexus S, Redmi Note 7 Pro, Pixel 4

# Milliseconds a batch, mean and standard deviation, on the same phones.
_BATCHES: Mapping[Workload, tuple[tuple[float, float], ...]] = {
    "femnist": ((1642, 100), (588, 24), (179, 2)),
    "celeba": ((5392, 983), (1355, 55), (561, 20)),
    "reddit": ((2596, 336), (916, 21), (528, 49)),
    "shakespeare": ((28621, 1721), (13579, 105), (10681, 126)),
}
_BATCH: Mapping[Workload, int] = {"femnist": 10, "celeba": 10, "reddit": 10, "shakespeare": 100}


@register("flash")
@dataclass(frozen=True)
class FlashPhones(Devices):
    """Phones of FLASH: Nexus S (53.2 %), Redmi Note 7 Pro (46.4 %) and Pixel 4 (0.4 %).

    Times of a batch as measured for FLASH (Yang et al., WWW 2021), with the shares that it gives
    to phones whose model it does not know; divided by the batch sizes of its experiments, 10, and
    100 for Shakespeare. There a time is normal, here log-normal with the same spread.

    Attributes
    ----------
    workload
        What is trained: `femnist` and `celeba` are convolutional networks, `reddit` and
        `shakespeare` recurrent ones.

    Examples
    --------
    >>> import numpy as np
    >>> FlashPhones("femnist").pace(np.array([-1.0, 1.0, 3.0])).seconds
    array([0.1642, 0.0588, 0.0179])
    """

    workload: Workload = "femnist"

    def pace(self, scores: Floats) -> Pace:
        """Return each client's pace; the highest scores have the fastest phone, shape (N,)."""
        batch = 1000 * _BATCH[self.workload]
        times = zip(_SHARES, _BATCHES[self.workload], strict=True)
        types = [DeviceType(share, mean / batch, sd / mean) for share, (mean, sd) in times]
        return pace_of_types(types, scores)

"""A population of clients: what devices they have, behind which links."""

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge, Interval

from driftfold.fleet import Fleet
from driftfold.latency.base import Delays, Latency
from driftfold.latency.devices import Devices
from driftfold.latency.lasting import LastingDelays
from driftfold.latency.links import Links
from driftfold.latency.lognormal_devices import LognormalDevices
from driftfold.latency.lognormal_links import LognormalLinks
from driftfold.registry import register


@register("population")
@dataclass(frozen=True)
class Population(Latency):
    """Clients draw a device and a link when the run begins, and keep them.

    Attributes
    ----------
    compute
        Law of the devices.
    link
        Law of the links.
    correlation
        Correlation over clients of the scores that devices and downlinks are drawn by: where both
        are log-normal, of ln(computing speed) and ln(down rate). Positive: who has a fast device
        has a fast link. Its correlation with the uplink is this times that of both directions.
    overhead
        Seconds added to each piece of work.

    Examples
    --------
    >>> from driftfold.latency import ConstantDevices, ConstantLinks, FlashPhones
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> link = ConstantLinks(down=1e6, up=5e5, round_trip=0.1)
    >>> delays = Population(ConstantDevices(seconds=0.02), link).delays(fleet)
    >>> delays.upload(np.array([0, 1]), nbytes=200_000, dispatch=0)
    array([0.5, 0.5])
    >>> phones = Population(compute=FlashPhones("celeba"), correlation=0.3)
    """

    compute: Devices = field(default_factory=LognormalDevices)
    link: Links = field(default_factory=LognormalLinks)
    correlation: Annotated[float, Interval(ge=-1, le=1)] = 0.0
    overhead: Annotated[float, Ge(0)] = 0.0

    def delays(self, fleet: Fleet) -> Delays:
        """Return the delays of `fleet`: draws each client's device and link."""
        everyone, rho = np.arange(fleet.size), self.correlation
        device = fleet.seed.stream("latency.device").normal(everyone, 0, 1)[:, 0]
        link = fleet.seed.stream("latency.link").normal(everyone, 0, 3)
        link[:, 0] = rho * device + math.sqrt(1 - rho**2) * link[:, 0]
        return LastingDelays(
            seed=fleet.seed,
            pace=self.compute.pace(device),
            rates=self.link.rates(link),
            overhead=self.overhead,
        )

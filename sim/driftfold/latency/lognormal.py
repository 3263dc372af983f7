"""Devices and links of lasting, log-normally spread speed."""

import math
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Ge, Gt, Interval

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.lanes import in_whole_vectors
from driftfold.latency.base import Delays, Latency
from driftfold.registry import register
from driftfold.rng import Seed, Stream

Sigma = Annotated[float, Interval(ge=0, le=10)]
"""Standard deviation of a natural logarithm; the bound keeps every delay finite."""


@register("lognormal")
@dataclass(frozen=True)
class Lognormal(Latency):
    """Each client has a lasting speed of computing and of both directions of its link.

    A speed is median * exp(sigma z_i), z_i standard normal and fixed by the seed and the client's
    id; each dispatch multiplies the time by exp(jitter z), z fresh. All medians are those of the
    fleet: half of the clients are slower.

    Attributes
    ----------
    per_sample
        Median seconds for one sample gradient.
    device_spread
        Sigma of ln(seconds per sample) over clients. Measured elsewhere: 0.46 on 930 desktops and
        laptops (R package benchmarkmeData, "prog" test), 1.36 on 307 phone models (AI Benchmark).
    compute_jitter
        Sigma of ln(time) from dispatch to dispatch.
    overhead
        Seconds added to each piece of work.
    down, up
        Median rates of the link in bytes per second.
    down_spread, up_spread
        Sigma of ln(rate) over clients.
    link_correlation
        Correlation of ln(down rate) and ln(up rate) over clients.
    link_jitter
        Sigma of ln(time) of a transfer from dispatch to dispatch.

    Notes
    -----
    Defaults: per_sample and device_spread are FedScale's stand-in for missing device traces, 5 ms
    times a log-normal with mu = 1, sigma = 0.6 (Lai et al., ICML 2022). The link follows the 19
    profiles published with FLASH (Yang et al., WWW 2021): ln sd 0.47 down and 0.68 up,
    correlation 0.45, coefficient of variation within a device 0.37 down and 0.40 up; medians are
    of their order (4.3 and 3.3 Mbit/s). Times per batch there vary by 2 to 6 % within a device.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(1001, 5), importance=np.full(1001, 1 / 1001))
    >>> delays = Lognormal(down=1e6).delays(fleet)
    >>> seconds = delays.download(np.arange(1001), nbytes=3_000_000, dispatch=0)
    >>> bool(2.7 < np.median(seconds) < 3.3)
    True
    """

    per_sample: Annotated[float, Ge(0)] = 0.0136
    device_spread: Sigma = 0.6
    compute_jitter: Sigma = 0.05
    overhead: Annotated[float, Ge(0)] = 0.0
    down: Annotated[float, Gt(0)] = 540_000.0
    up: Annotated[float, Gt(0)] = 410_000.0
    down_spread: Sigma = 0.47
    up_spread: Sigma = 0.68
    link_correlation: Annotated[float, Interval(ge=-1, le=1)] = 0.45
    link_jitter: Sigma = 0.37

    def delays(self, fleet: Fleet) -> Delays:
        """Return the delays of `fleet`: draws each client's lasting speeds."""
        everyone = np.arange(fleet.size)
        device = fleet.seed.stream("latency.device").normal(everyone, 0, 1)[:, 0]
        link = fleet.seed.stream("latency.link").normal(everyone, 0, 2)
        rho = self.link_correlation
        upward = rho * link[:, 0] + math.sqrt(1 - rho**2) * link[:, 1]
        return LognormalDelays(
            model=self,
            seed=fleet.seed,
            seconds_per_sample=self.per_sample * _exp(self.device_spread * device),
            seconds_per_byte_down=_exp(-self.down_spread * link[:, 0]) / self.down,
            seconds_per_byte_up=_exp(-self.up_spread * upward) / self.up,
        )


@final
@dataclass(frozen=True, eq=False)
class LognormalDelays(Delays):
    """Delays of the model `Lognormal`; the lasting speeds have shape (N,)."""

    model: Lognormal
    seed: Seed
    seconds_per_sample: Floats
    seconds_per_byte_down: Floats
    seconds_per_byte_up: Floats

    def download(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return nbytes / (the client's rate), with jitter, shape (k,)."""
        jitter = self._jitter("download", self.model.link_jitter, clients, dispatch)
        return nbytes * self.seconds_per_byte_down[clients] * jitter

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        """Return overhead + samples * (the client's seconds per sample), with jitter, (k,)."""
        jitter = self._jitter("compute", self.model.compute_jitter, clients, dispatch)
        return self.model.overhead + samples * self.seconds_per_sample[clients] * jitter

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return nbytes / (the client's rate), with jitter, shape (k,)."""
        jitter = self._jitter("upload", self.model.link_jitter, clients, dispatch)
        return nbytes * self.seconds_per_byte_up[clients] * jitter

    def _jitter(self, what: str, sigma: float, clients: Ints, dispatch: int) -> Floats:
        if sigma == 0:
            return np.ones(len(clients))
        stream: Stream = self.seed.stream(f"latency.{what}")
        return _exp(sigma * stream.normal(clients, dispatch, 1)[:, 0])


def _exp(x: Floats) -> Floats:
    return in_whole_vectors(np.exp, x)

"""Delays of clients whose devices and links stay what they are for the whole run."""

from dataclasses import dataclass
from typing import final

from driftfold.arrays import Floats, Ints
from driftfold.latency.base import Delays
from driftfold.latency.devices import Pace
from driftfold.latency.jitter import jittered
from driftfold.latency.links import Rates
from driftfold.rng import Seed


@final
@dataclass(frozen=True, eq=False)
class LastingDelays(Delays):
    """Delays of a fleet with these devices and links.

    Attributes
    ----------
    seed
        Root of what changes from dispatch to dispatch.
    pace, rates
        What each client's device and link are, arrays of shape (N,).
    overhead
        Seconds added to each piece of work.

    Examples
    --------
    >>> import numpy as np
    >>> one, none = np.ones(1), np.zeros(1)
    >>> rates = Rates(1000 * one, 500 * one, 0.25 * one, down_jitter=none, up_jitter=none)
    >>> delays = LastingDelays(Seed(1), Pace(0.5 * one, jitter=none), rates)
    >>> client = np.array([0])
    >>> delays.download(client, 2000, dispatch=0), delays.upload(client, 2000, dispatch=0)
    (array([2.25]), array([4.25]))
    """

    seed: Seed
    pace: Pace
    rates: Rates
    overhead: float = 0.0

    def download(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return round trip + nbytes / (the client's rate), with jitter of the rate, (k,)."""
        seconds, sigma = nbytes / self.rates.down[clients], self.rates.down_jitter[clients]
        moving = jittered(seconds, sigma, self.seed, "download", clients, dispatch)
        return self.rates.round_trip[clients] + moving

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        """Return overhead + samples * (the client's seconds per sample), with jitter, (k,)."""
        seconds, sigma = samples * self.pace.seconds[clients], self.pace.jitter[clients]
        return self.overhead + jittered(seconds, sigma, self.seed, "compute", clients, dispatch)

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return round trip + nbytes / (the client's rate), with jitter of the rate, (k,)."""
        seconds, sigma = nbytes / self.rates.up[clients], self.rates.up_jitter[clients]
        moving = jittered(seconds, sigma, self.seed, "upload", clients, dispatch)
        return self.rates.round_trip[clients] + moving

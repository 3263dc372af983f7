"""Delays of clients whose devices and links stay what they are for the whole run."""

from dataclasses import dataclass
from typing import final

import numpy as np

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
        return self.visit(clients, nbytes, np.zeros(len(clients)), 0, dispatch)[0]

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        """Return overhead + samples * (the client's seconds per sample), with jitter, (k,)."""
        return self.visit(clients, 0, samples, 0, dispatch)[1]

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        """Return round trip + nbytes / (the client's rate), with jitter of the rate, (k,)."""
        return self.visit(clients, 0, np.zeros(len(clients)), nbytes, dispatch)[2]

    def visit(
        self, clients: Ints, down: int, samples: Floats, up: int, dispatch: int
    ) -> tuple[Floats, Floats, Floats]:
        """All three, whose jitter is drawn in one pass, (k,) each."""
        pace, rates = self.pace, self.rates
        trip, own = rates.round_trip[clients], pace.seconds[clients]
        seconds = np.array([down / rates.down[clients], samples * own, up / rates.up[clients]])
        sigmas = (rates.down_jitter, pace.jitter, rates.up_jitter)
        sigma = np.array([each[clients] for each in sigmas])
        moving = jittered(seconds, sigma, self.seed, _PURPOSES, clients, dispatch)
        return trip + moving[0], self.overhead + moving[1], trip + moving[2]


_PURPOSES = ("latency.download", "latency.compute", "latency.upload")

"""Clients that are hardly ever on, or off: what brings them on and what takes them off, apart."""

from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.participation.base import Attendance
from driftfold.participation.blocks import InBlocks
from driftfold.participation.rates import Rates
from driftfold.participation.resets import MEAN, Resets
from driftfold.rng import Seed

RARE = 2.0**-12
"""Share of a client's switches below which those of one kind are too few to be searched for among
the others: then 4096 candidates and more lie between two of them."""

FAR = 2**31 - 2**16
"""Blocks that a search covers: it ends before, for there is a switch among some thousand."""

_SLOWEST = 1e-290
"""Rate in 1/s that counts as never, and that a number of seconds can still be divided by."""


def two_states(resets: Resets, seed: Seed) -> Attendance:
    """Return the attendance of a process of two states, with its rare clients done apart.

    The answers for all others are those of `resets` alone.
    """
    on, off = resets.rates.on, resets.rates.off
    rare = (np.minimum(on, off) < RARE) & (on > 0) & (off > 0)
    usual = InBlocks(resets, FAR)
    if not rare.any():
        return usual
    apart = Superposed(
        InBlocks(_only(resets, seed, on=True), FAR),
        InBlocks(_only(resets, seed, on=False), FAR),
        resets,
    )
    return apart if rare.all() else ByClient(usual, apart, rare)


@final
@dataclass(frozen=True, eq=False)
class Superposed(Attendance):
    """A Markov process of two states whose two kinds of switches come at their own pace.

    The same law as that of `Resets`, where a candidate is marked as one that sets on or off. Here
    both are Poisson processes of their own, each in blocks of its own length, so that the next one
    of either kind is near in blocks, however far in time. The state is that of the later one.

    Attributes
    ----------
    comes, goes
        The switches that set on, and those that set off.
    resets
        The law; tells the state before the first switch.
    """

    comes: InBlocks
    goes: InBlocks
    resets: Resets

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client has come on since it last went off, shape (k,)."""
        came, gone = self.comes.latest(clients, t)[0], self.goes.latest(clients, t)[0]
        states: Bools = came >= gone
        neither = np.flatnonzero(np.maximum(came, gone) == -np.inf)
        states[neither] = self.resets.before(clients[neither])
        return states

    def session_end(self, clients: Ints, t: float) -> Floats:
        """Time of the first switch after t that sets the client off; t if it is off at t."""
        return self._until(self.goes, clients, t, on=True)

    def next_on(self, clients: Ints, t: float) -> Floats:
        """Return t if the client is on, else the time of the first switch that sets it on."""
        return self._until(self.comes, clients, t, on=False)

    def _until(self, ending: InBlocks, clients: Ints, t: float, on: bool) -> Floats:
        """When each client, from t, ceases to be on (or off): t itself if it is not."""
        result = np.full(len(clients), float(t))
        concerned = np.flatnonzero(self.available(clients, t) == on)
        some = clients[concerned]
        times = ending.next(some, t, on)
        # What comes after all that can be asked about does not come.
        over = np.minimum(self.comes.limit(some), self.goes.limit(some))
        result[concerned] = np.where(times < over, times, np.inf)
        return result


@final
@dataclass(frozen=True, eq=False)
class ByClient(Attendance):
    """Two attendances of one fleet, each for clients of its own, who answer every dispatch.

    Attributes
    ----------
    usual, apart
        The attendances.
    rare
        Whose answers are those of `apart`, shape (N,).
    """

    usual: Attendance
    apart: Attendance
    rare: Bools

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is on, shape (k,)."""
        result = np.empty(len(clients), dtype=bool)
        for some, part in self._parts(clients):
            result[some] = part.available(clients[some], t)
        return result

    def session_end(self, clients: Ints, t: float) -> Floats:
        """When each client's session ends, shape (k,)."""
        result = np.empty(len(clients))
        for some, part in self._parts(clients):
            result[some] = part.session_end(clients[some], t)
        return result

    def next_on(self, clients: Ints, t: float) -> Floats:
        """When each client is on next, shape (k,)."""
        result = np.empty(len(clients))
        for some, part in self._parts(clients):
            result[some] = part.next_on(clients[some], t)
        return result

    def _parts(self, clients: Ints) -> tuple[tuple[Ints, Attendance], ...]:
        rare = self.rare[clients]
        return (np.flatnonzero(~rare), self.usual), (np.flatnonzero(rare), self.apart)


def _only(resets: Resets, seed: Seed, on: bool) -> Resets:
    """The switches that set on (or off), as a process whose candidates mostly are such."""
    rates = resets.rates
    share, swing = (rates.on, rates.amplitude) if on else (rates.off, rates.amplitude_off)
    bound = np.maximum(share * resets.bound * (1 + swing), _SLOWEST)
    nothing = np.broadcast_to(np.float64(0), len(bound))
    counts = np.broadcast_to(np.float64(1 / (1 + swing)), len(bound))
    return Resets(
        bound,
        Rates(counts, nothing, rates.top, swing, 0.0)
        if on
        else Rates(nothing, counts, rates.top, 0.0, swing),
        nothing,
        # As far back as the law goes.
        int(np.ceil(resets.warm * MEAN / resets.bound * (bound / MEAN)).max()),
        seed.stream("participation.comes" if on else "participation.goes"),
        resets.early,
    )

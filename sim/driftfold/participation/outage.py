"""Outages: shocks that take a share of the fleet off at once."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Gt, Interval

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.in_slots import SlotSeconds
from driftfold.participation.probabilities import Probability
from driftfold.participation.slots import slot_of
from driftfold.registry import register
from driftfold.rng import Stream

_AHEAD = 1 << 14
"""Sessions that are looked ahead: who is off in all of them counts as off for ever."""
_FAR = 1 << 22
"""Periods that are looked ahead: an outage takes everybody in so many."""
_LEAST = 1e-5
"""Smallest share above 0: what is rarer is searched for among too many periods."""
_TILE = 1 << 16


@register("outage")
@dataclass(frozen=True)
class Outage(Participation):
    """Another kind, interrupted by outages that clients share.

    In each period [k every, (k+1) every) there is one outage, of length `duration`, at a uniformly
    random place in it. It takes each region off with probability `share`, and with it all clients
    of the region. What the clients would do otherwise goes on unseen.

    Attributes
    ----------
    of
        How clients take part without outages.
    share
        Probability that an outage takes a region.
    every
        Length of a period in seconds.
    duration
        Length of an outage in seconds, shorter than a period.
    regions
        Number of regions over which clients are spread at random; None: each client is its own.

    Examples
    --------
    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(1000, 5), importance=np.full(1000, 0.001))
    >>> attendance = Outage(Always(), share=0.4, every=7200.0, duration=3600.0).attend(fleet)
    >>> on = [float(attendance.available(np.arange(1000), 60.0 * n).mean()) for n in range(120)]
    >>> max(on), abs(min(on) - 0.6) < 0.05
    (1.0, True)
    """

    of: Participation
    share: Probability = 0.3
    every: SlotSeconds = 86400.0
    duration: Annotated[float, Gt(0)] = 3600.0
    regions: Annotated[int, Interval(ge=1, le=2**32)] | None = None

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when an outage does not fit in its period."""
        if not self.duration < self.every:
            raise SpecError(
                f"participation 'outage' got duration = {self.duration:g} s in every = "
                f"{self.every:g} s; set duration < every"
            )
        if 0 < self.share < _LEAST:
            raise SpecError(
                f"participation 'outage' got share = {self.share:g}; outages that hardly ever take "
                f"anybody are not simulated, so set share to 0, or to {_LEAST:g} or more"
            )
        everyone = np.arange(fleet.size)
        if self.regions is None:
            region = everyone
        else:
            draws = fleet.seed.stream("participation.outage.region")
            region = draws.integers(everyone, 0, 1, self.regions)[:, 0]
        return Interrupted(
            self,
            self.of.attend(fleet),
            region,
            fleet.seed.stream("participation.outage.place"),
            fleet.seed.stream("participation.outage.takes"),
        )


@final
@dataclass(frozen=True, eq=False)
class Interrupted(Attendance):
    """An attendance with outages.

    Attributes
    ----------
    model
        The configuration.
    inner
        The attendance without outages.
    region
        Each client's region, shape (N,).
    places, takes
        Streams of the outages, addressed by period, and by region and period.
    """

    model: Outage
    inner: Attendance
    region: Ints
    places: Stream
    takes: Stream

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is on and in no outage, shape (k,)."""
        on: Bools = self.inner.available(clients, t) & ~self._out(clients, t)
        return on

    def session_end(self, clients: Ints, t: float) -> Floats:
        """When the session ends or an outage takes the client, if earlier; t if it is off at t."""
        ends = self.inner.session_end(clients, t)
        here = np.flatnonzero(self.available(clients, t))
        result = np.full(len(clients), float(t))
        result[here] = np.minimum(ends[here], self._taken(clients[here], t, ends[here]))
        return result

    def next_on(self, clients: Ints, t: float) -> Floats:
        """When the client is on and no outage has it."""
        result = self.inner.next_on(clients, t)
        waiting = np.flatnonzero(np.isfinite(result))
        for _ in range(_AHEAD):
            ends = self._outage_ends(clients[waiting], result[waiting])
            out = ends > result[waiting]
            waiting, ends = waiting[out], ends[out]
            if not waiting.size:
                return result
            # An outage ends for all at once, so these are few different times.
            for end in np.unique(ends).tolist():
                some = waiting[ends == end]
                result[some] = self.inner.next_on(clients[some], end)
            waiting = waiting[np.isfinite(result[waiting])]
        result[waiting] = np.inf
        return result

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        """Whether each client would answer this dispatch, were it on."""
        return self.inner.responds(clients, dispatch)

    def _outage(self, periods: Ints) -> tuple[Floats, Floats]:
        """Start and end of the outage of each period."""
        model = self.model
        u: Floats = self.places.uniform(0, periods, 1)[..., 0]
        begin, limit = periods * model.every, (periods + 1) * model.every
        start = begin + u * (model.every - model.duration)
        return start, np.minimum(start + model.duration, limit)

    def _hit(self, clients: Ints, periods: Ints) -> Bools:
        """Whether the outage of a period takes each client; the arguments broadcast."""
        hit: Bools = self.takes.uniform(self.region[clients], periods, 1)[..., 0] < self.model.share
        return hit

    def _out(self, clients: Ints, t: float) -> Bools:
        """Whether an outage has each client at t, shape (k,)."""
        return self._outage_ends(clients, np.full(len(clients), float(t))) > t

    def _outage_ends(self, clients: Ints, times: Floats) -> Floats:
        """When the outage that has each client at its time ends; that time if none has it."""
        every = self.model.every
        periods = np.array([slot_of(t, every) for t in np.unique(times).tolist()], dtype=np.int64)
        period = periods[np.searchsorted(np.unique(times), times)]
        start, end = self._outage(period)
        return np.where((start <= times) & (times < end) & self._hit(clients, period), end, times)

    def _taken(self, clients: Ints, t: float, until: Floats) -> Floats:
        """When the next outage after t takes each client, infinity if none does before `until`."""
        result = np.full(len(clients), np.inf)
        if self.model.share == 0:
            return result
        waiting, number, width = np.arange(len(clients)), slot_of(t, self.model.every), 1
        last = number + _FAR
        while waiting.size and number < last:
            width = max(1, min(width, last - number, _TILE // waiting.size))
            periods = np.arange(number, number + width)
            starts = self._outage(periods)[0]
            hit = self._hit(clients[waiting, None], periods) & (starts > t)
            found = hit.any(axis=1)
            result[waiting[found]] = starts[hit[found].argmax(axis=1)]
            waiting = waiting[~found & (until[waiting] > starts[-1])]
            number += width
            width *= 2
        return result

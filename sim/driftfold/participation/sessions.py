"""Sessions of lognormal length, long at night and short by day."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Ge, Gt, Interval

from driftfold.arrays import Bools, Floats, Ints
from driftfold.fleet import Fleet
from driftfold.lanes import in_whole_vectors
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.blocks import BlockProcess, InBlocks
from driftfold.registry import register
from driftfold.rng import Stream

_HOUR = 3600.0
_DAY = 24 * _HOUR
_EVENING = 8 * _HOUR
"""How long before the usual start of the night a client's day begins."""
_OFF = 1.0
"""Seconds at the begin of a day in which no night begins: it would go on from the session that the
day's begin has cut, whose end were then none."""
_MOST = 512
"""Day sessions that are drawn at most for one day."""


@register("sessions")
@dataclass(frozen=True)
class Sessions(Participation):
    """A long session at night and short ones by day, as phones that are charged have them.

    Each client's life is cut into days of its own, from 8 hours before its usual night. In every
    one, independently, there is a night session with probability `nights`, and an alternation of
    gaps and short sessions, all of lognormal length; sessions that meet are one, and what is left
    of one at the day's end is cut off. So days are a renewal: the law is the same every day, from
    the start, and any day can be drawn without those before it. Clients answer every dispatch.
    Default lengths are of the order of the charging times that FedScale's traces show.

    Attributes
    ----------
    nights
        Probability of a night session.
    night
        Median length of a night session in hours.
    night_spread
        Standard deviation of its logarithm.
    bedtime
        Hour of the day at which nights begin; time 0 is midnight.
    bedtime_spread
        Standard deviation of that from night to night, in hours.
    phase
        Standard deviation over clients of an hour's shift of the whole rhythm.
    session
        Median length of a day session in minutes.
    session_spread
        Standard deviation of its logarithm.
    gap
        Median over clients of the median gap between day sessions, in minutes.
    gap_spread
        Standard deviation of a gap's logarithm, within a client.
    habits
        Standard deviation over clients of the logarithm of the median gap.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(1000, 5), importance=np.full(1000, 0.001))
    >>> attendance = Sessions().attend(fleet)
    >>> on = [int(attendance.available(np.arange(1000), _HOUR * h).sum()) for h in (2, 14)]
    >>> on[0] > 4 * on[1]
    True
    """

    nights: Annotated[float, Interval(ge=0, le=1)] = 0.85
    night: Annotated[float, Gt(0)] = 8.0
    night_spread: Annotated[float, Ge(0)] = 0.35
    bedtime: float = 22.5
    bedtime_spread: Annotated[float, Ge(0)] = 1.0
    phase: Annotated[float, Ge(0)] = 1.5
    session: Annotated[float, Gt(0)] = 20.0
    session_spread: Annotated[float, Ge(0)] = 1.0
    gap: Annotated[float, Gt(0)] = 150.0
    gap_spread: Annotated[float, Ge(0)] = 1.0
    habits: Annotated[float, Ge(0)] = 0.5

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance of `fleet`."""
        own = fleet.seed.stream("participation.habits").normal(np.arange(fleet.size), 0, 2)
        begins = (self.bedtime + self.phase * own[:, 0]) * _HOUR - _EVENING
        return InBlocks(
            Days(
                self,
                np.mod(begins, _DAY) - _DAY,
                self.gap * 60 * in_whole_vectors(np.exp, self.habits * own[:, 1]),
                fleet.seed.stream("participation.nights"),
                fleet.seed.stream("participation.days"),
            )
        )


@final
@dataclass(frozen=True, eq=False)
class Days(BlockProcess):
    """Sessions day by day.

    Attributes
    ----------
    model
        The configuration.
    begins
        When each client's day 0 begins, at most 0, in seconds, shape (N,).
    gap
        Median gap of each client in seconds, shape (N,).
    night_draws, day_draws
        Streams addressed by client and day.
    """

    reach = 1
    advice = "choose an earlier end of the run (horizon)"

    model: Sessions
    begins: Floats
    gap: Floats
    night_draws: Stream
    day_draws: Stream

    def length(self, clients: Ints) -> Floats:
        """A day for each client, shape (k,)."""
        return np.full(len(clients), _DAY)

    def origin(self, clients: Ints) -> Floats:
        """When each client's day 0 begins, shape (k,)."""
        return self.begins[clients]

    def before(self, clients: Ints) -> Bools:
        """Off for each client: no session goes beyond its day."""
        return np.zeros(len(clients), dtype=bool)

    def switches(self, clients: Ints, blocks: Ints) -> tuple[Floats, Bools]:
        """Starts and ends of the sessions of a day, shape (k, m) each."""
        day_starts, day_ends = self._day(clients, blocks)
        night_start, night_end = self._night(clients, blocks)
        starts = np.concatenate([night_start[:, None], day_starts], axis=1)
        ends = np.concatenate([night_end[:, None], day_ends], axis=1)
        first, last = self._edge(clients, blocks), self._edge(clients, blocks + 1)
        missing = ~(starts < _DAY)
        # Clipped after the sum, whose rounding must not lead out of the day.
        starts = np.minimum(first[:, None] + np.where(missing, 0.0, starts), last[:, None])
        ends = np.minimum(first[:, None] + np.where(missing, 0.0, ends), last[:, None])
        missing |= starts >= ends
        return union(np.where(missing, np.inf, starts), np.where(missing, np.inf, ends))

    def _edge(self, clients: Ints, blocks: Ints) -> Floats:
        edge: Floats = self.begins[clients] + blocks * _DAY
        return edge

    def _night(self, clients: Ints, days: Ints) -> tuple[Floats, Floats]:
        """Start and end of the night session from the day's begin, infinity if none, (k,) each."""
        model = self.model
        happens = self.night_draws.uniform(clients, days, 1)[:, 0] < model.nights
        z = self.night_draws.normal(clients, days, 4)[:, 2:]
        start = np.maximum(_EVENING + model.bedtime_spread * _HOUR * z[:, 0], _OFF)
        length = model.night * _HOUR * in_whole_vectors(np.exp, model.night_spread * z[:, 1])
        start = np.where(happens, start, np.inf)
        return start, start + length

    def _day(self, clients: Ints, days: Ints) -> tuple[Floats, Floats]:
        """Starts and ends of day sessions from the day's begin, shape (k, m) each."""
        model, count = self.model, 8
        while True:
            z = self.day_draws.normal(clients, days, 2 * count).reshape(len(clients), count, 2)
            gaps = in_whole_vectors(np.exp, model.gap_spread * z[..., 0])
            lengths = in_whole_vectors(np.exp, model.session_spread * z[..., 1])
            gaps, lengths = gaps * self.gap[clients, None], lengths * (60 * model.session)
            ends = np.cumsum(gaps + lengths, axis=1)
            if count >= _MOST or bool((ends[:, -1] >= _DAY).all()):
                return ends - lengths, ends
            count *= 2


def union(starts: Floats, ends: Floats) -> tuple[Floats, Bools]:
    """Switches of the union of intervals, in order, padded with infinity.

    Intervals that are not there are infinite at both ends; shapes are (k, m), and (k, 2 m) of the
    results.

    >>> times, on = union(np.array([[5.0, 1.0, 9.0]]), np.array([[7.0, 6.0, 9.5]]))
    >>> times.tolist(), on[0, :4].tolist()
    ([[1.0, 7.0, 9.0, 9.5, inf, inf]], [True, False, True, False])
    """
    order = np.argsort(starts, axis=1, kind="stable")
    starts, ends = np.take_along_axis(starts, order, 1), np.take_along_axis(ends, order, 1)
    reached = np.maximum.accumulate(ends, axis=1)
    opens = np.ones(starts.shape, dtype=bool)
    opens[:, 1:] = starts[:, 1:] > reached[:, :-1]
    closes = np.ones(starts.shape, dtype=bool)
    closes[:, :-1] = opens[:, 1:]
    times = np.stack([np.where(opens, starts, np.inf), np.where(closes, reached, np.inf)], axis=2)
    # Within a run the start comes before the end, so sorting keeps on and off in turn.
    flat = np.sort(times.reshape(len(starts), 2 * starts.shape[1]), axis=1)
    return flat, np.broadcast_to(np.arange(flat.shape[1]) % 2 == 0, flat.shape)

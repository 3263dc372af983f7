"""Sessions in continuous time with a daily rhythm, fitted to a ratio of peak to trough."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Interval, Len

from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.phases import phases
from driftfold.participation.rates import Rates
from driftfold.participation.resets import Resets, warm_blocks
from driftfold.participation.superposed import two_states
from driftfold.participation.swing import Swing, solve
from driftfold.registry import register

_HOUR = 3600.0


@register("diurnal_sessions")
@dataclass(frozen=True)
class DiurnalSessions(Participation):
    """Exponential sessions whose rates follow the day, with a wanted ratio of peak to trough.

    Client i comes on at rate on (1 + a cos(2 pi (t - peak - phase_i) / day)), and goes off at the
    rate 1 / session, or 1 / session times 1 - a cos(...). `on` and the amplitude a are solved for
    the wanted share and ratio. The law repeats every day from the start. Clients answer every
    dispatch. Source of the ratio of 4: Bonawitz et al., "Towards Federated Learning at Scale"
    (2019), section 9.

    Attributes
    ----------
    duty
        Share of its time that a client is on.
    session
        Mean length of a session in seconds (its scale where both rates swing).
    ratio
        Clients on at the daily high over those on at the low, in the whole fleet.
    peak
        Hour of the day, in a zone 0, at which the rate of coming on is highest; time 0 is midnight.
    spread
        Standard deviation of phase_i ~ Normal(0, spread) over clients, in hours.
    zones
        Time zones, in hours that are added to phase_i; each client is in one of them, drawn evenly
        (a zone that is named twice has twice the clients). They flatten the fleet's rhythm.
    rates
        What swings: `on` (coming on), `both`, or `auto`: both only where `on` cannot reach the
        ratio, as with long sessions.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(4000, 5), importance=np.full(4000, 1 / 4000))
    >>> attendance = DiurnalSessions().attend(fleet)
    >>> on = [int(attendance.available(np.arange(4000), _HOUR * h).sum()) for h in range(24)]
    >>> 3.4 < max(on) / min(on) < 4.8
    True
    """

    duty: Annotated[float, Interval(ge=1e-9, le=1 - 1e-9)] = 0.15
    session: Annotated[float, Interval(ge=1e-3, le=1e9)] = 3600.0
    ratio: Annotated[float, Ge(1)] = 4.0
    peak: float = 2.0
    spread: Annotated[float, Ge(0)] = 1.5
    zones: Annotated[tuple[float, ...], Len(1)] = (0.0,)
    rates: Literal["on", "both", "auto"] = "auto"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the ratio cannot be reached."""
        seed, swing = fleet.seed, self.swing()
        top = self.peak + phases(seed, fleet.size, self.spread, self.zones)
        bound = swing.on * (1 + swing.amplitude) + swing.off * (1 + swing.amplitude_off)
        # One number for everybody: a million copies would be read one by one.
        bounds, start, on, off = (
            np.broadcast_to(np.float64(number), fleet.size)
            for number in (bound, self.duty, swing.on / bound, swing.off / bound)
        )
        return two_states(
            Resets(
                bounds,
                Rates(on, off, top * _HOUR, swing.amplitude, swing.amplitude_off),
                start,
                warm_blocks((swing.on + swing.off) / bound),
                seed.stream("participation.switches"),
                seed.stream("participation.start"),
            ),
            seed,
        )

    def swing(self) -> Swing:
        """Return the solved rates."""
        zones = tuple(float(zone) * _HOUR for zone in self.zones)
        return solve(self.duty, self.session, self.ratio, self.spread * _HOUR, zones, self.rates)

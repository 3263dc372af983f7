"""A participation model of one's own: devices that take part while they charge at night.

    python examples/own_participation.py

A participation model is two small classes. The one with the fields is what a specification names;
the other answers four questions about clients and times, of which this one answers three anew.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Bools, Floats, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import load_spec
from driftfold.testing.participation import check_participation

HOUR = 3600.0
DAY = 24 * HOUR


class Charging(Attendance):
    """Client i is on every day, from `plugged_in[i]` seconds after midnight, for `length` s."""

    def __init__(self, plugged_in: Floats, length: float) -> None:
        self.plugged_in = plugged_in
        self.length = length

    def available(self, clients: Ints, t: float) -> Bools:
        """On in the half-open session [start, start + length)."""
        start = self._latest_start(clients, t)
        on: Bools = (start <= t) & (t < start + self.length)
        return on

    def session_end(self, clients: Ints, t: float) -> Floats:
        """When the running session ends; t for those who are off."""
        return np.where(self.available(clients, t), self._latest_start(clients, t) + self.length, t)

    def next_on(self, clients: Ints, t: float) -> Floats:
        """t for those who are on; else the start of the next session."""
        start = self._latest_start(clients, t)
        coming = np.where(t < start, start, start + DAY)
        return np.where(self.available(clients, t), t, coming)

    def _latest_start(self, clients: Ints, t: float) -> Floats:
        first = self.plugged_in[clients]
        start: Floats = first + DAY * np.floor((t - first) / DAY)
        return start


@register("night_charging")
@dataclass(frozen=True)
class NightCharging(Participation):
    """Each device charges once a day, from an hour of its own around `evening`.

    Attributes
    ----------
    evening
        Mean hour at which devices are plugged in.
    spread
        Half the width of the interval from which that hour is drawn, in hours.
    hours
        How long a device charges.
    """

    evening: Annotated[float, Interval(ge=0, lt=24)] = 22.0
    spread: Annotated[float, Interval(ge=0, le=12)] = 3.0
    hours: Annotated[float, Interval(gt=0, lt=24)] = 7.0

    def attend(self, fleet: Fleet) -> Attendance:
        """Draw each client's hour; the seed and the client's id fix it."""
        u = fleet.seed.stream("night_charging").uniform(np.arange(fleet.size), 0, 1)[:, 0]
        hour = self.evening + self.spread * (2 * u - 1)
        # Whole seconds, whose sums are exact: a session starts when next_on said it would.
        return Charging(np.floor(HOUR * hour), HOUR * self.hours)


def main() -> None:
    fleet = Fleet(Seed(7), samples=np.full(20, 100), importance=np.full(20, 0.05))
    check_participation(NightCharging(), fleet)
    print("the model keeps the contract of a participation model")

    everyone = np.arange(fleet.size)
    attendance = NightCharging().attend(fleet)
    print("hour  clients that are on")
    for hour in range(0, 24, 3):
        count = int(attendance.available(everyone, hour * HOUR).sum())
        print(f"{hour:4d}  {'#' * count} {count}")

    experiment = {
        "extends": "pca-synthetic",
        "participation": {"kind": "night_charging", "hours": 5},
        "latency": {"kind": "lognormal", "overhead": 600},
        "cadence": {"kind": "synchronous", "cohort": 10, "deadline": 1800},
        "horizon": {"rounds": 60},
    }
    result = run(load_spec(experiment))
    counts = result.counts
    days = result.time / DAY
    print(f"{result.rounds} rounds in {days:.2f} days, gap {result.metrics['gap']:.3f}")
    print(f"invited {counts['invited']}, arrived {counts['arrived']}, dropped {counts['dropped']}")


if __name__ == "__main__":
    main()

"""What a server asks about its clients does not grow with the fleet."""

from dataclasses import dataclass, field, replace

import pytest

from driftfold.arrays import Bools, Floats, Ints
from driftfold.assembly import build
from driftfold.participation.base import Attendance
from driftfold.run import _simulate
from driftfold.spec import load_spec
from driftfold.telemetry.recorder import Recorder
from driftfold.world.keeper import Keeper


@dataclass
class Asked(Attendance):
    """An attendance that counts the clients it is asked about."""

    inner: Attendance
    times: dict[str, int] = field(default_factory=dict)

    def _count(self, query: str, clients: Ints) -> None:
        self.times[query] = self.times.get(query, 0) + len(clients)

    def available(self, clients: Ints, t: float) -> Bools:
        self._count("available", clients)
        return self.inner.available(clients, t)

    def session_end(self, clients: Ints, t: float) -> Floats:
        self._count("session_end", clients)
        return self.inner.session_end(clients, t)

    def next_on(self, clients: Ints, t: float) -> Floats:
        self._count("next_on", clients)
        return self.inner.next_on(clients, t)


def asked(clients: int, *overrides: str) -> dict[str, float]:
    """Clients asked about for each client invited, by query, in half an hour of `fleet-week`."""
    spec = load_spec(
        "fleet-week",
        overrides=[
            f"task.clients={clients}",
            "task.data.samples=50",
            "task.partition.samples=2",
            "task.data.features=2",
            "horizon.seconds=1800",
            "cadence.concurrency=40",
            "cadence.buffer=20",
            *overrides,
        ],
    )
    world = build(spec)
    attendance = Asked(world.attendance)
    keeper = Keeper(Recorder(), None, "large", 0, {}, {})
    told = _simulate(spec, replace(world, attendance=attendance), Recorder(), keeper, None)
    assert told.counts["accepted"] > 20
    return {query: n / told.counts["invited"] for query, n in attendance.times.items()}


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param("restock=0.0", marks=pytest.mark.slow),
        "restock=30.0",
        pytest.param("selection=f3ast", marks=pytest.mark.slow),
    ],
)
def test_queries_of_an_invitation_do_not_grow_with_the_fleet(setting: str) -> None:
    few, many = (asked(n, f"cadence.{setting}") for n in (3_000, 30_000))
    # At the nightly high one client in four is there: some 4 looks for each at least.
    assert many["available"] < 1.5 * few["available"]
    assert many["available"] < 30
    assert many["session_end"] == few["session_end"] == 1
    assert "next_on" not in many

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.participation import Diurnal, KnownProbability, KnownSchedule
from driftfold.participation.scheduled import IndependentSlots
from driftfold.participation.slots import Slotted
from tests.participation.fleets import fleet_of

MODELS = [
    Diurnal(duty=0.4, slot=3600.0, horizon=1.0),
    Diurnal(duty=0.02, amplitude=1.0, slot=900.0, horizon=0.5),
    Diurnal(duty=0.95, amplitude=0.0, slot=7200.0, horizon=2.0),
    Diurnal(duty=0.5, amplitude=3.0, slot=0.1 * 3600, horizon=2.0),
    Diurnal(duty=0.5, slot=1000 / 3, horizon=0.3),
]


class Intervals:
    """An oracle that lists every slot of a client and walks along the list."""

    def __init__(self, attendance: Slotted, client: int, until: float, horizon: float) -> None:
        self.slot = attendance.length
        self.horizon = math.ceil(horizon * 86400 / self.slot)
        count = int(until / self.slot) + self.horizon + 3
        self.edges = [n * self.slot for n in range(count + 1)]
        one = np.array([client])
        middles = [(lo + hi) / 2 for lo, hi in zip(self.edges, self.edges[1:], strict=False)]
        self.on = [bool(attendance.available(one, t)[0]) for t in middles]

    def index(self, t: float) -> int:
        return max(n for n, edge in enumerate(self.edges) if edge <= t)

    def change(self, t: float) -> float:
        start = self.index(t)
        for n in range(start + 1, start + 1 + self.horizon):
            if self.on[n] != self.on[start]:
                return self.edges[n]
        return math.inf


@pytest.mark.parametrize(
    "model", [*MODELS[:3], *(pytest.param(m, marks=pytest.mark.slow) for m in MODELS[3:])]
)
def test_every_answer_equals_that_of_a_list_of_intervals(model: Diurnal) -> None:
    clients, until = 4, 100_000.0
    assert model.slot != "dispatch"
    attendance = model.attend(fleet_of(clients))
    assert isinstance(attendance, Slotted)
    oracles = [Intervals(attendance, i, until, model.horizon) for i in range(clients)]
    rng = np.random.default_rng(3)
    edges = rng.integers(0, int(until / model.slot), 30) * model.slot
    nearly = [np.nextafter(edges, np.inf), np.nextafter(edges[edges > 0], 0)]
    times = np.concatenate([rng.uniform(0, until, 60), edges, *nearly])
    changes: list[float] = []
    for t in rng.permutation(times).tolist():
        some = rng.permutation(clients)[: rng.integers(1, clients + 1)]
        on = [oracles[i].on[oracles[i].index(t)] for i in some]
        change = [oracles[i].change(t) for i in some]
        ends = [c if o else t for o, c in zip(on, change, strict=True)]
        starts = [t if o else c for o, c in zip(on, change, strict=True)]
        assert attendance.available(some, t).tolist() == on
        assert attendance.session_end(some, t).tolist() == ends
        assert attendance.next_on(some, t).tolist() == starts
        changes += change
    assert any(map(math.isfinite, changes))


@given(t=st.floats(0, 1e7), slot=st.floats(0.1, 1e5), i=st.integers(0, 4))
@settings(max_examples=200, deadline=None)
def test_a_session_holds_at_its_last_instant_and_not_at_its_end(
    t: float, slot: float, i: int
) -> None:
    attendance = Diurnal(slot=slot).attend(fleet_of(5))
    one = np.array([i])
    state = bool(attendance.available(one, t)[0])
    change = float((attendance.session_end if state else attendance.next_on)(one, t)[0])
    assert change > t
    assert bool(attendance.available(one, float(np.nextafter(change, 0)))[0]) == state
    assert bool(attendance.available(one, change)[0]) != state


def test_who_is_never_on_is_never_found() -> None:
    attendance = Diurnal(duty=0.0).attend(fleet_of(3))
    assert np.isposinf(attendance.next_on(np.arange(3), 5.0)).all()
    assert attendance.session_end(np.arange(3), 5.0).tolist() == [5.0] * 3


def test_who_is_always_on_never_leaves() -> None:
    attendance = Diurnal(duty=1.0, amplitude=0.0, horizon=10.0).attend(fleet_of(3))
    assert np.isposinf(attendance.session_end(np.arange(3), 5.0)).all()
    assert attendance.next_on(np.arange(3), 5.0).tolist() == [5.0] * 3


def test_absence_for_longer_than_the_horizon_counts_as_for_good() -> None:
    rare = {"duty": 0.01, "amplitude": 0.0, "slot": 3600.0}
    short = Diurnal(**rare, horizon=1.0).attend(fleet_of(200))
    long = Diurnal(**rare, horizon=366.0).attend(fleet_of(200))
    everyone = np.arange(200)
    truth = long.next_on(everyone, 0.0)
    assert np.isfinite(truth).all()
    expected = np.where(truth <= 24 * 3600.0, truth, np.inf)
    assert short.next_on(everyone, 0.0).tolist() == expected.tolist()
    assert 0 < np.isinf(expected).sum() < 200


def test_four_times_as_many_at_the_daily_high_as_at_the_low() -> None:
    size = 20_000
    attendance = Diurnal().attend(fleet_of(size))
    everyone = np.arange(size)
    hourly = np.array(
        [
            [attendance.available(everyone, 86400.0 * day + 3600.0 * h).sum() for h in range(24)]
            for day in range(3)
        ]
    ).mean(axis=0)
    peak, trough = int(hourly.argmax()), int(hourly.argmin())
    # Slot h covers the hour after h, so the hours around 2:00 are slots 1 and 2, a tie.
    assert peak in (1, 2)
    assert trough in (13, 14)
    # 60,000 client-hours each: a standard error of 1.3 % of the ratio.
    assert 3.7 < hourly[peak] / hourly[trough] < 4.3
    assert abs(hourly.mean() / size - 0.4) < 0.005


def test_slots_are_independent_and_have_their_probability() -> None:
    attendance = Diurnal(slot=600.0).attend(fleet_of(50))
    assert isinstance(attendance, Slotted)
    everyone, slots = np.arange(50), np.arange(2000)
    on = np.array([attendance.available(everyone, (n + 0.5) * 600.0) for n in slots]).T
    assert isinstance(attendance.process, IndependentSlots)
    p = attendance.process.schedule.at(everyone, slots)
    z = (on - p) / np.sqrt(p * (1 - p))
    count = z.size
    # Means of `count` independent standardised numbers, so within four of 1 / sqrt(count).
    assert abs(z.mean()) < 4 / np.sqrt(count)
    assert abs((z[:, 1:] * z[:, :-1]).mean()) < 4 / np.sqrt(count)
    assert abs((z[1:] * z[:-1]).mean()) < 4 / np.sqrt(count)


def test_the_probability_varies_with_time_so_none_is_known() -> None:
    for model in (Diurnal(), Diurnal(slot="dispatch")):
        assert not isinstance(model.attend(fleet_of(3)), KnownProbability)


def test_an_hour_passes_from_dispatch_to_dispatch() -> None:
    duty = (0.5, 0.25, 0.1)
    attendance = Diurnal(duty=duty, amplitude=0.8, spread=0.0, slot="dispatch").attend(fleet_of(3))
    assert isinstance(attendance, KnownSchedule)
    for n in (0, 1, 13, 24, 100):
        swing = 1 + 0.8 * math.cos(2 * math.pi * (n + 0.5 - 2.0) / 24)
        got = attendance.probability_at(np.arange(3), n)
        np.testing.assert_allclose(got, [d * swing for d in duty], rtol=1e-12)

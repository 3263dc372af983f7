"""Clients' own clocks, and those that they share with participation."""

import numpy as np
import pytest

from driftfold.drift import Timeline
from driftfold.drift.clocks import ByGroup, ByPresence, Drawn, Given, TimeZones
from driftfold.drift.schedules import Bernoulli, Linear, Recurring, Sine, Square, Staggered, Step
from driftfold.errors import CapabilityError, SpecError
from driftfold.fleet import Fleet
from driftfold.participation import Bernoulli as Answers
from driftfold.participation import Diurnal, DiurnalSessions
from driftfold.rng import Seed
from tests.drift.timelines import course, timeline


def fleet(size: int = 20, seed: int = 1) -> Fleet:
    return Fleet(Seed(seed), samples=np.full(size, 5), importance=np.full(size, 1 / size))


def test_a_clock_that_starts_late_meets_everything_later() -> None:
    path = Staggered(Square(every=5), Given(start=(0, 3))).path(timeline(clients=2))
    assert course(path, 1)[3:].tolist() == course(path, 0)[:-3].tolist()
    assert (path.changes(1) - 3).tolist() == path.changes(0)[: len(path.changes(1))].tolist()


def test_a_clock_of_twice_the_pace_has_half_the_period() -> None:
    fast = Staggered(Sine(period=20), Given(pace=2.0)).path(timeline(clients=2))
    assert course(fast) == pytest.approx(course(Sine(period=10).path(timeline())), abs=1e-12)


def test_a_phase_is_where_a_clock_begins() -> None:
    ahead = Staggered(Step(at=(50,)), Given(phase=20.0)).path(timeline(clients=2))
    assert ahead.changes(0).tolist() == [30]
    behind = Staggered(Linear(), Given(phase=-10.0)).path(timeline(clients=2))
    assert course(behind)[:11].tolist() == [0.0] * 11
    assert behind.changes(0).tolist() == [11]


def test_a_chain_on_a_slow_clock_stays_longer() -> None:
    slow = Staggered(Bernoulli(), Given(pace=0.5)).path(timeline(clients=2))
    at_its_own_pace = course(Bernoulli().path(timeline(clients=2)))
    assert np.array_equal(course(slow), at_its_own_pace[np.arange(100) // 2])


def test_drawn_clocks_fill_their_ranges_and_do_not_depend_on_the_number_of_clients() -> None:
    clock = Drawn(start=30.0, phase=10.0, pace=4.0)
    many, few = (clock.readings(timeline(clients=n)) for n in (2000, 3))
    for name, low, high in (("start", 0, 30), ("phase", 0, 10), ("pace", 0.25, 4)):
        values = getattr(many, name)
        assert np.array_equal(values[:3], getattr(few, name))
        assert low <= values.min() < low + 0.02 * (high - low)
        assert high - 0.02 * (high - low) < values.max() <= high
    assert np.median(np.log(many.pace)) == pytest.approx(0, abs=0.2)  # log-uniform about 1


def test_groups_drift_one_after_the_other() -> None:
    of_drift = Timeline(5, 200, 60.0, Seed(1), groups=np.array([0, 2, 1, 2, 3]))
    path = Staggered(Step(at=(100,)), ByGroup(start=(0, 10, 20))).path(of_drift)
    assert [path.changes(i).tolist() for i in range(5)] == [[100], [120], [110], [120], [100]]
    by_number = Staggered(Step(at=(100,)), ByGroup(start=(0, 5), of="number")).path(of_drift)
    assert [path.changes(i)[0] for path in (by_number,) for i in range(4)] == [100, 105, 100, 105]
    with pytest.raises(CapabilityError, match="of = 'number'"):
        ByGroup().readings(timeline())


def test_lists_fit_the_clients() -> None:
    with pytest.raises(SpecError, match="3 values of pace for 20 clients"):
        Given(pace=(1.0, 2.0, 3.0)).readings(timeline())
    with pytest.raises(SpecError, match="2 probabilities for 20 clients"):
        ByPresence(p=(0.5, 0.5)).readings(timeline())
    with pytest.raises(SpecError, match="low <= high"):
        ByPresence(low=0.5, high=0.4).readings(timeline())


@pytest.mark.parametrize("low", [0.0, 0.3])
def test_presence_is_that_of_a_participation_with_the_same_bounds(low: float) -> None:
    p = Answers(low=low, high=0.9).attend(fleet()).probability(np.arange(20))  # type: ignore[attr-defined]
    rare_first = ByPresence(start=50.0, pace=3.0, low=low, high=0.9).readings(timeline())
    assert rare_first.start == pytest.approx(50 * p)
    assert rare_first.pace == pytest.approx(3 ** (1 - 2 * p))
    often_first = ByPresence(start=50.0, rare_first=False, low=low, high=0.9).readings(timeline())
    assert often_first.start == pytest.approx(50 * (1 - p))


def test_time_zones_are_those_of_diurnal_participation() -> None:
    days = Diurnal(duty=0.5, amplitude=1.0, peak=2.0, spread=3.0, slot=1.0).attend(fleet())
    recurring = Recurring(peak=2.0, form="wave")
    path = Staggered(recurring, TimeZones(spread=3.0)).path(timeline(steps=48, seconds=1800.0))
    everyone = np.arange(20)
    for step in (0, 7, 30):
        # Slots of a second: the probability at its middle is that of the instant, to 1e-4.
        p = days.process.schedule.at(everyone, np.array([1800 * step]))[:, 0]  # type: ignore[attr-defined]
        assert path.weight(everyone, np.full(20, step)) == pytest.approx(p, abs=1e-4)


def test_time_zones_are_those_of_sessions_that_follow_the_day() -> None:
    zones = (-8.0, 0.0, 5.5)
    sessions = DiurnalSessions(peak=2.0, zones=zones, ratio=1.5).attend(fleet())
    tops = sessions.process.rates.top / 3600  # type: ignore[attr-defined]
    clocks = TimeZones(zones=zones).readings(timeline(seconds=3600.0))
    assert -clocks.phase == pytest.approx(tops - 2.0, abs=1e-9)

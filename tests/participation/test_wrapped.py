"""Kinds that change another, and the worst ones, against lists of intervals."""

from collections.abc import Sequence

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.participation import (
    Adversarial,
    Always,
    Attendance,
    Bernoulli,
    Dropout,
    KnownProbability,
    KnownSchedule,
    MarkovSessions,
    Outage,
    Participation,
    Sine,
)
from driftfold.participation.blocks import InBlocks
from driftfold.participation.dropout import LeavesInTime
from driftfold.participation.outage import Interrupted
from driftfold.participation.slots import Slotted
from tests.participation.fleets import fleet_of
from tests.participation.intervals import (
    Changes,
    compare,
    from_blocks,
    from_parts,
    from_slots,
    moments,
)

# Each with the length of one of its periods in seconds.
MODELS: list[tuple[Participation, float]] = [
    (Dropout(Always(), first=10.0, last=90.0, unit="seconds"), 25.0),
    (Dropout(MarkovSessions(session=7.0), last=80.0, unit="seconds"), 25.0),
    (Outage(Always(), every=20.0, duration=7.0), 20.0),
    (Outage(MarkovSessions(session=7.0), share=0.8, every=1 / 3, duration=0.3, regions=4), 1.0),
    (Outage(Dropout(Always(), last=80.0, unit="seconds"), every=20.0, duration=19.0), 20.0),
    (Adversarial("all_off", start=10.0, end=30.0), 10.0),
    (Adversarial("flapping", every=0.1), 0.2),
]


def truth_of(attendance: Attendance, clients: int, until: float) -> list[Changes]:
    if isinstance(attendance, LeavesInTime):
        inner = truth_of(attendance.inner, clients, until)
        pairs = zip(inner, attendance.times.tolist(), strict=True)
        return [_left(life, end, until) for life, end in pairs]
    if isinstance(attendance, Interrupted):
        inner = truth_of(attendance.inner, clients, until)
        return [_interrupted(attendance, i, inner[i], until) for i in range(clients)]
    if isinstance(attendance, InBlocks):
        return from_blocks(attendance, clients, until)
    if isinstance(attendance, Slotted):
        return from_slots(attendance, clients, round(until / attendance.length))
    if isinstance(attendance, type(Always().attend(fleet_of(1)))):
        return [Changes(True, [], until)] * clients
    return [Changes(True, [10.0, 30.0], until)] * clients


def _left(inner: Changes, end: float, until: float) -> Changes:
    return from_parts([*inner.times, end], lambda t: inner.state(t) and t < end, until)


def _interrupted(attendance: Interrupted, client: int, inner: Changes, until: float) -> Changes:
    model = attendance.model
    outages = []
    for k in range(int(until / model.every) + 1):
        u = float(attendance.places.uniform(0, k, 1)[0])
        start = k * model.every + u * (model.every - model.duration)
        end = min(start + model.duration, (k + 1) * model.every)
        if attendance.takes.uniform(int(attendance.region[client]), k, 1)[0] < model.share:
            outages.append((start, end))
    return from_parts(
        [*inner.times, *(edge for outage in outages for edge in outage)],
        lambda t: inner.state(t) and not _within(t, outages),
        until,
    )


def _within(t: float, intervals: Sequence[tuple[float, float]]) -> bool:
    return any(start <= t < end for start, end in intervals)


def check(model: Participation, period: float, clients: int, times: int) -> None:
    attendance = model.attend(fleet_of(clients))
    truth = truth_of(attendance, clients, 6 * period)
    rng = np.random.default_rng(3)
    asked = moments(truth, 4 * period, times, rng)
    assert compare(attendance, truth, asked, rng) == clients * times


@pytest.mark.parametrize(("model", "period"), MODELS[1:3] + MODELS[5:], ids=repr)
def test_intervals(model: Participation, period: float) -> None:
    check(model, period, clients=40, times=25)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "period"), MODELS, ids=repr)
def test_intervals_a_million_times(model: Participation, period: float) -> None:
    check(model, period, clients=1000, times=1000)


def test_an_outage_takes_a_share_of_the_fleet_at_once() -> None:
    size = 10_000
    attendance = Outage(Always(), share=0.3, every=100.0, duration=10.0).attend(fleet_of(size))
    assert isinstance(attendance, Interrupted)
    everyone = np.arange(size)
    start = float(attendance.places.uniform(0, 5, 1)[0]) * 90.0 + 500.0
    assert attendance.available(everyone, float(np.nextafter(start, 0))).all()
    # Five standard errors of a share of 10,000.
    assert abs(attendance.available(everyone, start).mean() - 0.7) < 5 * np.sqrt(0.21 / size)
    off = everyone[~attendance.available(everyone, start)]
    assert len(set(attendance.next_on(off, start).tolist())) == 1


def test_a_region_goes_as_one() -> None:
    attendance = Outage(Always(), share=0.5, every=100.0, duration=99.0, regions=3).attend(
        fleet_of(100)
    )
    assert isinstance(attendance, Interrupted)
    for period in range(10):
        off = ~attendance.available(np.arange(100), 100.0 * period + 50.0)
        for region in range(3):
            assert len(set(off[attendance.region == region].tolist())) == 1


def test_half_of_the_clients_drop_out_and_never_come_back() -> None:
    attendance = Dropout(Always(), share=0.5, first=10.0, last=20.0).attend(fleet_of(10))
    answers = np.array([attendance.responds(np.arange(10), n) for n in range(40)])
    assert answers[:10].all()
    assert answers[20:].sum(axis=1).tolist() == [5] * 20
    assert np.all(answers[1:] <= answers[:-1])


def test_probabilities_are_those_of_who_is_left() -> None:
    for inner, p in ((Bernoulli(p=0.4), 0.4), (Sine(p=0.4, swing=0.0), 0.4)):
        attendance = Dropout(inner, times=(5.0, np.inf)).attend(fleet_of(2))
        assert isinstance(attendance, KnownSchedule)
        assert not isinstance(attendance, KnownProbability)
        assert attendance.probability_at(np.arange(2), 4).tolist() == [p, p]
        assert attendance.probability_at(np.arange(2), 5).tolist() == [0.0, p]


def test_one_client_never_answers() -> None:
    model = Adversarial("silent", client=1)
    attendance = model.attend(fleet_of(3))
    assert model.knows_probability
    assert isinstance(attendance, KnownProbability)
    assert attendance.probability(np.arange(3)).tolist() == [1.0, 0.0, 1.0]


def test_all_are_off_for_ever() -> None:
    attendance = Adversarial("all_off", start=5.0).attend(fleet_of(2))
    both = np.arange(2)
    assert attendance.session_end(both, 1.0).tolist() == [5.0, 5.0]
    assert np.isposinf(attendance.next_on(both, 5.0)).all()


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (Dropout(Always(), times=(1.0,)), "1 times for 2 clients"),
        (Dropout(Always(), first=2.0, last=1.0), "first <= last"),
        (Outage(Always(), every=5.0, duration=5.0), "duration < every"),
        (Adversarial("silent", client=2), "client = 2 of 2 clients"),
        (Adversarial("all_off", start=2.0, end=2.0), "start < end"),
    ],
)
def test_what_does_not_fit_is_refused(model: Participation, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        model.attend(fleet_of(2))

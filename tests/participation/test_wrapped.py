"""Kinds that change another, and the worst ones."""

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.participation import (
    Adversarial,
    Always,
    Bernoulli,
    Dropout,
    KnownProbability,
    KnownSchedule,
    Outage,
    Participation,
    Sine,
)
from driftfold.participation.outage import Interrupted
from tests.participation.fleets import fleet_of


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

"""Kinds whose probabilities follow what clients have, against their formulas by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from driftfold.errors import CapabilityError, SpecError
from driftfold.participation import (
    KnownProbability,
    KnownSchedule,
    LabelCycle,
    LabelSetBernoulli,
    LognormalSine,
    Participation,
    SizeBernoulli,
)
from driftfold.participation.slots import Slotted
from tests.participation.fleets import fleet_of

# Of classes 1 and 3; of all; of class 4 alone; of class 0 alone.
SHARES = np.array(
    [[0, 0.5, 0, 0.5, 0], [0.2, 0.2, 0.2, 0.2, 0.2], [0, 0, 0, 0, 1.0], [1.0, 0, 0, 0, 0]]
)


def known(model: Participation) -> list[float]:
    fleet = replace(fleet_of(4, label_shares=SHARES), samples=np.array([40, 10, 160, 90]))
    attendance = model.attend(fleet)
    assert isinstance(attendance, KnownProbability)
    p: list[float] = attendance.probability(np.arange(4)).tolist()
    return p


def test_more_or_less_data() -> None:
    assert known(SizeBernoulli(power=0.5)) == pytest.approx([0.5, 0.25, 1.0, 0.75])
    assert known(SizeBernoulli(power=-1.0)) == pytest.approx([0.25, 1.0, 0.0625, 1 / 9])
    assert known(SizeBernoulli(power=0.0, high=0.7)) == pytest.approx([0.7] * 4)


def test_lowest_class_and_number_of_classes() -> None:
    assert known(LabelSetBernoulli(share=0.9)) == pytest.approx([0.325, 0.1, 1.0, 0.1])
    assert known(LabelSetBernoulli("count", share=0.5)) == pytest.approx([0.7, 1.0, 0.6, 0.6])


def test_one_class_of_one() -> None:
    fleet = fleet_of(2, label_shares=np.ones((2, 1)))
    p = LabelSetBernoulli(share=0.4).attend(fleet)
    assert isinstance(p, KnownProbability)
    assert p.probability(np.arange(2)) == pytest.approx([0.6, 0.6])
    assert isinstance(LabelCycle().attend(fleet), KnownSchedule)


def test_classes_take_turns() -> None:
    attendance = LabelCycle(share=0.8, period=24).attend(fleet_of(4, label_shares=SHARES))
    assert isinstance(attendance, KnownSchedule)
    for n in range(50):
        r = (1 + n % 24) / 24
        turns = [(1 / 4, 3 / 4), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)]
        expected = [1.0 if a <= r <= b else 0.2 for a, b in turns]
        assert attendance.probability_at(np.arange(4), n) == pytest.approx(expected)


def test_it_is_known_whose_turn_is_always_or_never() -> None:
    """Or a search for a change that never comes would look through 65,536 slots."""
    attendance = LabelCycle(share=1.0, slot=1.0).attend(fleet_of(4, label_shares=SHARES))
    assert isinstance(attendance, Slotted)
    everyone = np.arange(4)
    assert attendance.process.stays(everyone, True).tolist() == [False, True, False, False]
    assert attendance.process.stays(everyone, False).tolist() == [False, False, False, True]
    # Classes 1 to 3: slots 5 to 17 of each 24. Class 4: the last one.
    assert attendance.next_on(everyone, 0.5).tolist() == [5.0, 0.5, 23.0, np.inf]
    assert attendance.session_end(everyone, 23.5).tolist() == [23.5, np.inf, 24.0, 23.5]


def test_lognormal_probabilities_swing() -> None:
    size = 3000
    attendance = LognormalSine(sigma=0.25, amplitude=0.4, level=0.5).attend(fleet_of(size))
    assert isinstance(attendance, KnownSchedule)
    q = attendance.probability_at(np.arange(size), 0) / 0.5
    assert q.max() == pytest.approx(1.0)
    # A sample of 3,000, compared with a normal law of unknown mean.
    assert stats.kstest((np.log(q) - np.log(q).mean()) / 0.25, "norm").pvalue > 1e-4
    for n in (5, 13, 40):
        factor = 0.4 * math.sin(2 * math.pi * n / 24) + 0.5
        np.testing.assert_allclose(
            attendance.probability_at(np.arange(size), n), q * factor, rtol=1e-12
        )


@pytest.mark.parametrize("model", [LabelSetBernoulli(), LabelCycle()])
def test_data_without_labels_are_refused(model: Participation) -> None:
    with pytest.raises(CapabilityError, match="these data have none; use labelled data"):
        model.attend(fleet_of(3))


@pytest.mark.parametrize(("amplitude", "level"), [(0.6, 0.5), (0.4, 0.7)])
def test_swings_beyond_probabilities_are_refused(amplitude: float, level: float) -> None:
    with pytest.raises(SpecError, match=r"amplitude \+ level <= 1"):
        LognormalSine(amplitude=amplitude, level=level).attend(fleet_of(3))

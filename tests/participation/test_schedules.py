"""The schedules in slots, against their formulas by hand."""

import math

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.participation import (
    Cyclic,
    InterleavedSine,
    Jump,
    KnownProbability,
    KnownSchedule,
    Markov,
    Participation,
    Sine,
    Staircase,
)
from tests.participation.fleets import fleet_of

P = (0.9, 0.3, 0.05)


def schedule(model: Participation, slots: range) -> list[list[float]]:
    attendance = model.attend(fleet_of(3))
    assert isinstance(attendance, KnownSchedule)
    return [attendance.probability_at(np.arange(3), n).tolist() for n in slots]


def test_sine() -> None:
    expected = [[p * (0.3 * math.sin(2 * math.pi * n / 20) + 0.7) for p in P] for n in range(45)]
    np.testing.assert_allclose(schedule(Sine(p=P), range(45)), expected, rtol=1e-13)


def test_interleaved_sine_is_cut_below_its_floor() -> None:
    values = [[p * (0.3 * math.sin(2 * math.pi * n / 20) + 0.7) for p in P] for n in range(45)]
    expected = [[v if v >= 0.1 else 0.0 for v in row] for row in values]
    got = schedule(InterleavedSine(p=P, swing=0.3), range(45))
    np.testing.assert_allclose(got, expected, rtol=1e-13)
    assert {row[2] for row in got} == {0.0}


def test_staircase() -> None:
    expected = [[p if n // 10 % 2 == 0 else 0.4 * p for p in P] for n in range(45)]
    np.testing.assert_allclose(schedule(Staircase(p=P), range(45)), expected, rtol=1e-14)


def test_jump() -> None:
    got = schedule(Jump(p=P, at=5, after=0.5), range(8))
    assert got == [list(P)] * 5 + [[0.5] * 3] * 3


def test_a_jump_draws_anew() -> None:
    got = np.array(schedule(Jump(low=0.2, high=0.4, at=1), range(2)))
    assert not np.any(got[0] == got[1])
    assert 0.2 <= got.min() <= got.max() < 0.4


def test_cyclic_takes_turns() -> None:
    attendance = Cyclic(p=P, period=10).attend(fleet_of(3))
    assert isinstance(attendance, KnownProbability)
    on = np.array([attendance.responds(np.arange(3), n) for n in range(30)])
    assert on.sum(axis=0).tolist() == [27, 9, 0]
    assert np.array_equal(on[:10], on[10:20])
    # One run a period: as many comings as goings, one of each, where p is neither 0 nor 1.
    assert (on[:10] & ~np.roll(on[:10], 1, axis=0)).sum(axis=0).tolist() == [1, 1, 0]
    assert attendance.probability(np.arange(3)).tolist() == [0.9, 0.3, 0.0]


def test_what_changes_has_no_single_probability() -> None:
    for model in (Sine(), Staircase(), InterleavedSine(), Jump()):
        assert model.knows_probability
        assert not isinstance(model.attend(fleet_of(3)), KnownProbability)


@pytest.mark.parametrize("model", [Sine(p=0.0, slot=1.0), Jump(p=0.0, after=0.0, slot=1.0)])
def test_who_never_comes_is_never_found(model: Participation) -> None:
    assert np.isposinf(model.attend(fleet_of(3)).next_on(np.arange(3), 5.5)).all()


@pytest.mark.parametrize("kind", [Cyclic, InterleavedSine, Jump, Markov, Sine, Staircase])
def test_what_does_not_fit_is_refused(kind: type[Sine]) -> None:
    with pytest.raises(SpecError, match=r"\(0.5, 0.5\)|2 probabilities p for 3 clients"):
        kind(p=(0.5, 0.5)).attend(fleet_of(3))

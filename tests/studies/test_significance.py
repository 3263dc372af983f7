"""Many comparisons at once, against figures by SciPy and by hand."""

import numpy as np
import pytest
from scipy import stats

from driftfold.studies.significance import (
    Gain,
    Pair,
    all_larger,
    all_same,
    all_smaller,
    all_within,
    holm,
    none_smaller,
    p_value,
    some_larger,
    sorted_out,
)
from driftfold.studies.values import Sample
from driftfold.studies.verdict import Verdict


def pair(centre: float, spread: float = 0.01, name: str = "a / b") -> Pair:
    """Ten seeds whose ratio has this geometric mean, and about this spread of its logarithm."""
    wave = spread * np.cos(np.pi * np.arange(10))  # sums to 0
    seeds = tuple(range(1, 11))
    return Pair(name, Sample(seeds, centre * np.exp(wave)), Sample(seeds, np.ones(10)))


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.5, 3.0])
def test_p_values_are_those_of_students_test(shift: float) -> None:
    differences = np.random.default_rng(1).normal(shift, 1.0, 10)
    expected = stats.ttest_1samp(differences, 0.0).pvalue
    np.testing.assert_allclose(p_value(differences), expected, rtol=1e-9, atol=1e-14)


def test_p_values_without_a_spread() -> None:
    assert p_value(np.array([0.3])) == 1.0
    assert p_value(np.zeros(3)) == 1.0
    assert p_value(np.ones(3)) == 0.0


def test_holm_by_hand() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, and never below one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_what_is_significant_alone_need_not_be_among_many() -> None:
    close = pair(0.99, spread=0.0125)
    assert 0.025 < close.p_value < 0.05
    assert sorted_out([close])[0] == [close]
    assert sorted_out([close, *[pair(1.0, 0.1)] * 9])[0] == []


@pytest.mark.parametrize(
    ("centres", "verdict"),
    [
        ((0.5, 0.6), Verdict.HOLDS),
        ((0.5, 1.0), Verdict.HOLDS_ONLY),
        ((0.5, 2.0), Verdict.HOLDS_ONLY),
        ((1.0, 1.0), Verdict.UNDECIDED),
        ((1.0, 2.0), Verdict.FAILS),
    ],
)
def test_all_smaller(centres: tuple[float, ...], verdict: Verdict) -> None:
    found = all_smaller("lower", [pair(c, name=f"ratio of {c}") for c in centres])
    assert found.verdict is verdict
    for c in centres:
        assert (f"ratio of {c}" in found.reason) == (c >= 1)


@pytest.mark.parametrize(
    ("points", "verdict"),
    [
        ((2.0, 1.0), Verdict.HOLDS),
        ((2.0, 0.0), Verdict.HOLDS_ONLY),
        ((-2.0, 0.0), Verdict.FAILS),
        ((0.0, 0.0), Verdict.UNDECIDED),
    ],
)
def test_all_larger_by_differences(points: tuple[float, ...], verdict: Verdict) -> None:
    wave = np.cos(np.pi * np.arange(5)) + np.arange(5) - 2.2  # sums to 0
    seeds = tuple(range(5))
    gains = [
        Gain("g", Sample(seeds, 0.7 + (p + 0.1 * wave) / 100), Sample(seeds, np.full(5, 0.7)))
        for p in points
    ]
    found = all_larger("above", gains)
    assert found.verdict is verdict
    for evidence, expected in zip(found.evidence, points, strict=True):
        assert evidence.interval.centre == pytest.approx(expected, abs=1e-9)
    expected = stats.ttest_1samp(100 * (gains[0].one - gains[0].other).values, 0.0)
    assert gains[0].p_value == pytest.approx(expected.pvalue, rel=1e-6)
    limits = expected.confidence_interval()
    assert (gains[0].interval.low, gains[0].interval.high) == pytest.approx(tuple(limits))


def test_none_smaller_names_who_is() -> None:
    assert none_smaller("unbeaten", [pair(1.0), pair(2.0)]).verdict is Verdict.HOLDS
    found = none_smaller("unbeaten", [pair(1.0), pair(0.5, name="winner")])
    assert found.verdict is Verdict.FAILS
    assert "winner 0.5" in found.reason
    assert [row.what for row in found.evidence] == ["winner"]


@pytest.mark.parametrize(
    ("centres", "verdict"),
    [
        ((1.0, 1.05), Verdict.HOLDS),
        ((1.0, 1.5), Verdict.HOLDS_ONLY),
        ((1.1, 1.1), Verdict.UNDECIDED),
        ((1.1, 1.5), Verdict.FAILS),
    ],
)
def test_all_same(centres: tuple[float, ...], verdict: Verdict) -> None:
    assert all_same("alike", [pair(c) for c in centres], 1.1).verdict is verdict


def test_one_seed_decides_nothing() -> None:
    one = Pair("a / b", Sample((1,), np.array([0.1])), Sample((1,), np.array([1.0])))
    assert all_smaller("lower", [one]).verdict is Verdict.UNDECIDED
    assert all_same("alike", [one], 2.0).verdict is Verdict.UNDECIDED


def gain(*points: float) -> Gain:
    """A gain of so many points in each seed."""
    seeds = tuple(range(1, len(points) + 1))
    nothing = np.zeros(len(points))
    return Gain("gain", Sample(seeds, np.array(points) / 100), Sample(seeds, nothing))


def test_some_are_larger() -> None:
    large, none, loose = gain(2.0, 2.1, 1.9), gain(0.1, -0.1, 0.0), gain(3.0, -2.0, 0.5)
    assert some_larger("said", [none, large], worth=1.0).verdict is Verdict.HOLDS
    assert some_larger("said", [none], worth=1.0).verdict is Verdict.FAILS
    assert some_larger("said", [none, loose], worth=1.0).verdict is Verdict.UNDECIDED
    assert some_larger("said", [gain(2.0)], worth=3.0).verdict is Verdict.UNDECIDED


def test_all_are_within_a_margin() -> None:
    near, far = gain(0.1, -0.1, 0.0), gain(2.0, 2.1, 1.9)
    assert all_within("said", [near], 1.0).verdict is Verdict.HOLDS
    assert all_within("said", [near, far], 1.0).verdict is Verdict.FAILS
    assert all_within("said", [near, gain(-2.0, -2.1, -1.9)], 1.0).verdict is Verdict.FAILS
    assert all_within("said", [near, gain(1.5, -1.0, 0.2)], 1.0).verdict is Verdict.UNDECIDED

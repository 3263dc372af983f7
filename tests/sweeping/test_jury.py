"""Early-stop rules against their definitions."""

import math
from statistics import mean, median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from driftfold_api.sweeping.curve import Curve
from driftfold_api.sweeping.jury import Jury
from driftfold_api.sweeping.stop_rule import MedianRule, StopRule, TargetRule

VALUES = st.floats(-1e6, 1e6)
CURVES = st.lists(st.lists(VALUES, min_size=1, max_size=8), min_size=1, max_size=7)


def median_rule(**more: Any) -> MedianRule:
    return MedianRule(kind="median", metric="gap", **{"grace": 0, "others": 1, **more})


@given(CURVES, st.integers(0, 7))
def test_the_median_rule_is_what_its_definition_says(values: list[list[float]], at: int) -> None:
    rounds = [10 * k for k in range(8)]
    curves = {
        child: Curve.of(dict(zip(rounds, curve, strict=False)))
        for child, curve in enumerate(values)
    }
    rule = median_rule(others=2)
    for child, curve in enumerate(values):
        if len(curve) <= at:
            continue
        others = [mean(c[: at + 1]) for k, c in enumerate(values) if k != child and len(c) > at]
        wanted = at > 0 and len(others) >= 2 and min(curve[: at + 1]) > median(others)
        got = bool(rule.against(child, rounds[at], curves))
        if len(others) >= 2 and math.isclose(min(curve[: at + 1]), median(others), rel_tol=1e-9):
            continue  # sums are rounded in another order there
        assert got == wanted


def told(jury: Jury, *values: tuple[int, int, float]) -> Jury:
    for child, round_, value in values:
        jury.hear(child, round_, value)
    return jury


def test_every_round_is_judged_once_and_stays_so() -> None:
    jury = told(Jury(median_rule()), (0, 5, 9.0), (1, 5, 1.0))
    first = jury.judge()
    assert first.judged == {0: 5, 1: 5}
    assert list(first.stopped) == [0]
    assert jury.judge().judged == {}
    # What a stopped job still tells is nothing to judge by: 1 is compared with 9, not with 0.
    told(jury, (0, 10, 0.0), (1, 10, 2.0), (2, 5, 4.0), (2, 10, 8.0))
    second = jury.judge()
    assert second.judged == {1: 10, 2: 10}
    assert list(second.stopped) == [2]
    assert "by round 10, 4, is worse than 1.5, the median of 1 others" in second.stopped[2]


def test_a_jury_that_is_made_anew_goes_on_with_the_verdicts_there_were() -> None:
    values = [(0, 5, 9.0), (1, 5, 1.0), (0, 10, 0.5), (2, 5, 0.5), (2, 10, 0.25), (1, 10, 7.0)]
    whole = Jury(median_rule())
    told(whole, *values[:2])
    before = whole.judge()
    told(whole, *values[2:])
    anew = told(Jury(median_rule(), before.judged, dict.fromkeys(before.stopped, 5)), *values)
    assert anew.judge() == whole.judge()


def test_without_others_or_within_the_grace_nothing_is_stopped() -> None:
    bad = [(0, 5, 9.0), (1, 5, 1.0), (2, 5, 1.0)]
    assert not told(Jury(median_rule(grace=5)), *bad).judge().stopped
    assert told(Jury(median_rule(grace=4)), *bad).judge().stopped
    assert not told(Jury(median_rule(others=3)), *bad).judge().stopped


@pytest.mark.parametrize("goal", ["min", "max"])
def test_a_goal_may_be_to_grow_and_what_is_no_number_is_the_worst(goal: str) -> None:
    sign = 1 if goal == "min" else -1
    rule = median_rule(goal=goal)
    values = [(0, 5, math.nan), (1, 5, sign * 1.0), (2, 5, sign * 2.0)]
    verdicts = told(Jury(rule), *values).judge()
    assert list(verdicts.stopped) == [0]
    assert "is worse than " + ("1.5" if goal == "min" else "-1.5") in verdicts.stopped[0]


def test_the_first_round_at_which_a_target_is_reached_counts() -> None:
    rule = TargetRule(kind="target", metric="accuracy", goal="max", value=0.9)
    jury = told(Jury(rule), (0, 20, 0.95), (1, 10, 0.9), (2, 10, 0.99), (3, 5, 0.89))
    verdicts = jury.judge()
    assert verdicts.reached == (1, "reached accuracy 0.9 at round 10")
    assert not verdicts.stopped


def test_rules_are_read_strictly() -> None:
    read = TypeAdapter[MedianRule | TargetRule](StopRule).validate_python
    assert read({"kind": "median", "metric": "gap"}) == median_rule(grace=10, others=3)
    for wrong in (
        {"kind": "best", "metric": "gap"},
        {"kind": "median"},
        {"kind": "target", "metric": "gap"},
        {"kind": "target", "metric": "gap", "value": math.nan},
        {"kind": "median", "metric": "gap", "grace": -1},
        {"kind": "median", "metric": "gap", "patience": 3},
    ):
        with pytest.raises(ValidationError):
            read(wrong)

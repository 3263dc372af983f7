"""Rules that judge claims, on values that were made up."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from driftfold.studies.base import Claim, Published
from driftfold.studies.comparisons import (
    as_published,
    grows,
    in_band,
    minimum,
    ordered,
    same,
    smaller,
    together,
)
from driftfold.studies.judging import judge
from driftfold.studies.values import NotMeasured, Sample, Values
from driftfold.studies.verdict import Finding, Verdict
from tests.studies.tiny import PLAIN, STUDY, made_up, series


def sample(*values: float) -> Sample:
    return Sample(tuple(range(1, len(values) + 1)), np.array(values))


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ((1.0, 1.1, 0.9), (2.0, 2.2, 1.9), Verdict.HOLDS),
        ((2.0, 2.2, 1.9), (1.0, 1.1, 0.9), Verdict.FAILS),
        ((1.0, 3.0, 1.0), (2.0, 1.0, 1.1), Verdict.UNDECIDED),
        ((1.0,), (2.0,), Verdict.UNDECIDED),
    ],
)
def test_smaller(one: tuple[float, ...], other: tuple[float, ...], verdict: Verdict) -> None:
    assert smaller("a / b", sample(*one), sample(*other)).verdict is verdict


def test_differences_are_taken_seed_by_seed() -> None:
    """Seeds differ by factors of ten, which would hide a tenth if they were not paired."""
    one, other = sample(1.0, 10.0, 100.0), sample(1.1, 11.2, 109.0)
    assert smaller("a / b", one, other).verdict is Verdict.HOLDS
    assert same("a / b", one, other, margin=1.2).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, Verdict.HOLDS), (1.5, Verdict.FAILS), (1.1, Verdict.UNDECIDED)]
)
def test_same_within_a_margin(factor: float, verdict: Verdict) -> None:
    one = sample(1.0, 2.0, 3.0)
    other = Sample(one.seeds, one.values * np.array([0.99, 1.0, 1.01]) * factor)
    assert same("a / b", one, other, margin=1.1).verdict is verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((0.02, 0.03), Verdict.HOLDS),
        ((0.05, 0.2), Verdict.UNDECIDED),  # a mean of 0.125, but 0.05 is in the interval
        ((0.2, 0.3), Verdict.FAILS),
    ],
)
def test_a_mean_in_a_band(values: tuple[float, ...], verdict: Verdict) -> None:
    assert in_band("gap", sample(*values), 0.015, 0.06).verdict is verdict


def test_an_order_holds_when_every_step_does() -> None:
    values = made_up(weighted=[1.0, 1.1, 0.9], plain=[2.0, 2.1, 2.2])
    assert ordered(values, PLAIN, ("weighted", "plain"), 0).verdict is Verdict.HOLDS
    assert ordered(values, PLAIN, ("plain", "weighted"), 0).verdict is Verdict.FAILS


def test_a_slope_along_arms() -> None:
    sizes = [("k1", 1.0), ("k2", 2.0), ("k4", 4.0)]
    square = made_up(k1=[1.0, 2.0, 1.5], k2=[4.1, 8.0, 6.1], k4=[16.0, 32.5, 24.0])
    found = grows(square, PLAIN, sizes, 0)
    assert found.verdict is Verdict.HOLDS
    assert found.evidence[0].interval.centre == pytest.approx(2.0, abs=0.05)
    down = grows(square, PLAIN, [("k4", 1.0), ("k2", 2.0), ("k1", 4.0)], 0)
    assert down.verdict is Verdict.FAILS


def test_published_values() -> None:
    rows = (
        Published("weighted", 0, 1.0, 0.5, 2.0),
        Published("plain", 0, 1.0, 0.5, 2.0),
        Published("plain", 0, 1.0),  # shown, not judged
    )
    experiment = replace(PLAIN, published=rows)

    def found(plain: list[float]) -> Finding:
        return as_published(made_up(weighted=[1.0, 1.2], plain=plain), experiment)

    assert found([1.0, 1.5]).verdict is Verdict.HOLDS
    assert found([1.0, 9.0]).verdict is Verdict.UNDECIDED
    half = found([7.0, 9.0])
    assert half.verdict is Verdict.HOLDS_ONLY
    assert "1 of 2" in half.reason
    only_plain = as_published(
        made_up(weighted=[1.0, 1.2], plain=[7.0, 9.0]), experiment, ("plain",)
    )
    assert only_plain.verdict is Verdict.FAILS


def test_the_gravest_verdict_counts() -> None:
    holds, open_, fails = (
        Finding(verdict, verdict.value)
        for verdict in (Verdict.HOLDS, Verdict.UNDECIDED, Verdict.FAILS)
    )
    assert together("all is well", holds, holds) == Finding(Verdict.HOLDS, "all is well")
    assert together("", holds, open_).verdict is Verdict.UNDECIDED
    assert together("", holds, open_, fails).verdict is Verdict.FAILS


def test_the_least_value_of_each_run() -> None:
    values = Values({("plain", "weighted", 1): series(3.0, 0.5, 2.0)})
    assert minimum(values, "plain", "weighted", "gap").values.tolist() == [0.5]
    with pytest.raises(NotMeasured, match="no loss of plain/weighted"):
        minimum(values, "plain", "weighted", "loss")


def test_what_was_not_measured_is_not_tested() -> None:
    verdicts = {
        claim.name: finding.verdict for claim, finding in judge(STUDY, made_up(weighted=[0.2, 0.3]))
    }
    assert verdicts == {
        "start": Verdict.HOLDS,
        "order": Verdict.NOT_TESTED,
        "gone": Verdict.NOT_TESTED,
    }


def test_a_smaller_experiment_tests_nothing() -> None:
    (_, start), *_ = judge(STUDY, made_up(weighted=[0.2, 0.3]), small=True)
    assert start.verdict is Verdict.NOT_TESTED
    assert "published size" in start.reason


def test_runs_that_failed_are_told_and_a_missing_side_is_no_verdict() -> None:
    """Of any study: both arms were to be run with three seeds."""
    wanted = frozenset(("plain", arm, seed) for arm in ("weighted", "plain") for seed in (1, 2, 3))
    there = made_up(weighted=[0.2, 0.3]).series
    found = {c.name: f for c, f in judge(STUDY, Values(there, wanted))}
    assert found["start"].verdict is Verdict.HOLDS
    assert found["start"].reason.endswith(
        "1 of 3 runs that it needs have no result, plain/weighted/3 the first"
    )
    assert found["order"].verdict is Verdict.NOT_TESTED
    assert found["order"].reason.startswith("no gap of plain/weighted after round 3; 1 of 3 runs")
    assert "no result of lacking" in found["gone"].reason, "that was not to be run"


def test_a_rule_that_leaves_a_side_out_gives_no_verdict() -> None:
    def kind(values: Values) -> Finding:
        for arm in ("weighted", "plain"):
            with suppress(NotMeasured):
                values.sample("plain", arm, 0)
        return Finding(Verdict.HOLDS, "whatever is there is fine")

    study = replace(STUDY, claims=(Claim("kind", "All is fine.", "nobody", kind),))
    values = made_up(weighted=[0.2])
    wanted = frozenset({*values.series, ("plain", "plain", 1)})
    ((_, finding),) = judge(study, replace(values, wanted=wanted))
    assert finding.verdict is Verdict.NOT_TESTED
    assert finding.reason.startswith("there is no result at all of plain")
    ((_, finding),) = judge(study, values)
    assert finding.verdict is Verdict.HOLDS, "the other arm was not to be run"

"""The study of estimators: its grid is what it says, and its rules find what was put in."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from driftfold.data.gaussian_classes import GaussianClasses
from driftfold.participation import KnownProbability, KnownSchedule
from driftfold.rng import Seed
from driftfold.spec import load_spec, validate
from driftfold.studies import get_study
from driftfold.studies.estimators.drifts import DRIFTS, JUMP_AT, P, leaving, reversed_ranks
from driftfold.studies.estimators.findings import CLAIMS
from driftfold.studies.estimators.grids import END, GRIDS, LATE, experiment_name
from driftfold.studies.estimators.rules import LASTING, MEMORY, RULES
from driftfold.studies.judging import judge
from driftfold.studies.values import Series, Values
from driftfold.studies.verdict import Verdict
from driftfold.tasks.pca import Pca
from tests.participation.fleets import fleet_of

STUDY = get_study("estimators")
ROUNDS = np.array([0, LATE, END])


def test_every_rule_meets_every_kind_of_participation() -> None:
    assert len(GRIDS) == 2 * 6
    for grid in GRIDS:
        assert len(grid.arms) == 2 * len(RULES) + 1
        assert {arm.name for arm in grid.arms} > set(grid.drawn)
        assert len(grid.seeds) == 10
    for overview in STUDY.overviews:
        for _, experiment in overview.columns:
            arms = {arm.name for arm in next(g for g in GRIDS if g.name == experiment).arms}
            assert {arm for _, arm in overview.rows} <= arms


@pytest.mark.parametrize("drift", DRIFTS)
def test_specifications_are_sound_and_probabilities_known(drift: str) -> None:
    grid = next(g for g in GRIDS if g.name == experiment_name("eigenvector", drift))
    for arm in (grid.arm("ags-oracle"), grid.arm("avg-varp-window"), grid.arm("fedawe")):
        spec = load_spec(arm.preset, overrides=list(arm.overrides))
        validate(spec)
        assert isinstance(spec.task, Pca)
        assert spec.task.rank == 1
    attendance = spec.participation.attend(fleet_of(40))
    everyone = np.arange(40)
    if isinstance(attendance, KnownSchedule):
        p = np.mean([attendance.probability_at(everyone, n) for n in range(END)], axis=0)
    else:
        assert isinstance(attendance, KnownProbability)
        p = attendance.probability(everyone)
    assert p.min() > 0
    assert p.max() <= 1


def test_rare_classes_and_frequent_ones() -> None:
    """Ten clients have one class each, and the classes' probabilities do not overlap."""
    preset = load_spec("estimators-pca")
    assert preset.participation.p == P  # type: ignore[attr-defined]
    task = preset.task
    assert isinstance(task, Pca)
    assert isinstance(task.data, GaussianClasses)
    data = task.data.load(_seed())
    assert data.y is not None
    parts = task.partition.split(data, 40, _seed())
    classes = [set(data.y[rows].tolist()) for rows in parts]
    ranges = []
    for label in range(4):
        own = [p for p, labels in zip(P, classes, strict=True) if labels == {label}]
        assert len(own) == 10
        ranges.append((min(own), max(own)))
    low_to_high = sorted(ranges)
    assert all(a[1] < b[0] for a, b in pairwise(low_to_high))


def _seed() -> Seed:
    return Seed(11)


def test_the_jump_swaps_ranks_and_the_rare_leave() -> None:
    after = reversed_ranks(P)
    assert sorted(after) == sorted(P)
    assert after[P.index(max(P))] == min(P)
    times = leaving(P)
    gone = [p for p, t in zip(P, times, strict=True) if t < END]
    assert len(gone) == 10
    assert max(gone) < 0.3
    assert JUMP_AT < LATE


def made(gap: Callable[[str, str], float]) -> Values:
    """Values of ten seeds whose late gap is `gap` of drift and arm, and about 2 % apart."""
    rng = np.random.default_rng(0)
    series = {}
    for grid in GRIDS:
        drift = grid.name.split("-")[1]
        for arm in grid.arms:
            for seed in grid.seeds:
                value = gap(drift, arm.name) * np.exp(0.02 * rng.normal())
                told = {"gap": np.array([5.0, value, value])}
                series[grid.name, arm.name, seed] = Series(
                    ROUNDS, {**told, "weight_bias": told["gap"]}
                )
    return Values(series)


def verdicts(values: Values) -> dict[str, Verdict]:
    return {claim.name: finding.verdict for claim, finding in judge(STUDY, values)}


def test_claims_hold_where_all_is_as_they_say() -> None:
    def gap(drift: str, arm: str) -> float:
        rule = arm.partition("-")[2]
        if rule == "none":
            return 1.0
        if drift == "jump" and rule in LASTING:
            return 0.7
        if rule in ("window", "ewma", "kalman"):
            return 0.12
        if rule in MEMORY:
            return 0.02 if rule == "mifa" else 0.025
        return 0.1

    found = verdicts(made(gap))
    assert len(found) == len(CLAIMS)
    assert {name for name, verdict in found.items() if verdict is not Verdict.HOLDS} == set()


def test_claims_fail_where_it_is_the_other_way_round() -> None:
    """Weights do harm, memory more, and estimates are far below the truth."""

    def gap(drift: str, arm: str) -> float:
        rule = arm.partition("-")[2]
        worse = {"none": 0.1, "oracle": 1.0, "mifa": 9.0, "ipw-varp": 8.0, "varp-window": 4.0}
        return 2.0 * worse.get(rule, 0.3) if arm.startswith("ags") else worse.get(rule, 0.3)

    found = verdicts(made(gap))
    for name in ("uncorrected", "stationary", "harmless", "unbeaten", "memory", "gone"):
        assert found[name] is Verdict.FAILS, name
    assert found["aggregations"] is Verdict.FAILS
    assert found["counted-memory"] is Verdict.FAILS
    assert found["winner-pca-jump"] is Verdict.FAILS


def test_nothing_is_tested_without_values() -> None:
    assert set(verdicts(Values()).values()) == {Verdict.NOT_TESTED}

"""The bias of weights: exactly, over cohorts, and in the records of a run."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from driftfold.errors import CapabilityError
from driftfold.estimators import Estimator, Hajek, Inclusive, Oracle, Past, Silent, Unweighted
from driftfold.participation import Attendance, Bernoulli, Diurnal, Sine, Uniform
from driftfold.participation.cohort import cohort_weights
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks import WeightBias
from driftfold.telemetry.memory import Memory
from tests.participation.fleets import PUBLISHED, fleet_of

P = np.array([0.9, 0.5, 0.1, 0.7])


def measured(rule: Estimator[Any], attendance: Attendance, round: int = 1, draws: int = 2) -> float:
    fleet = fleet_of(4)
    state = rule.begin(fleet, attendance)
    told = WeightBias(draws).measure_weights(rule, state, fleet, attendance, round)
    return told["weight_bias"]


def test_known_probabilities_have_none() -> None:
    attendance = Bernoulli(p=tuple(P)).attend(fleet_of(4))
    assert measured(Oracle(), attendance) == pytest.approx(0.0, abs=1e-28)
    assert measured(Oracle(), Uniform(size=3).attend(fleet_of(4))) == pytest.approx(0.0, abs=1e-28)


def test_counts_have_it_at_the_start() -> None:
    """In round 1 INCLUSIVE weighs a_i, PAST 2 a_i; who has left F weighs nothing."""
    attendance = Bernoulli(p=tuple(P)).attend(fleet_of(4))
    assert measured(Inclusive(), attendance) == pytest.approx(((P - 1) ** 2).sum(), rel=1e-14)
    assert measured(Past(), attendance) == pytest.approx(((2 * P - 1) ** 2).sum(), rel=1e-14)
    assert measured(Silent(Past(), 3), attendance, round=9) == 4.0


@pytest.mark.slow
@pytest.mark.parametrize("rule", [Unweighted(), Hajek(Oracle())], ids=repr)
def test_where_weights_depend_on_the_cohort_it_is_estimated_without_bias(
    rule: Estimator[Any],
) -> None:
    """Against all cohorts; 4000 draws are off by about 4 sqrt(2 / 4000) of a variance of 1."""
    attendance = Bernoulli(p=tuple(P)).attend(fleet_of(4))
    state, mean = rule.begin(fleet_of(4), attendance), np.zeros(4)
    for answers in product((False, True), repeat=4):
        members = np.flatnonzero(answers)
        if len(members):
            chance = np.prod(np.where(answers, P, 1 - P))
            mean[members] += chance * rule.weigh(state, fleet_of(4), members, 1)[0]
    if isinstance(rule, Unweighted):
        np.testing.assert_allclose(mean, cohort_weights(P), rtol=1e-12)
    exact = float(((4 * mean - 1) ** 2).sum())
    assert measured(rule, attendance, draws=4000) == pytest.approx(exact, abs=0.1)
    assert exact > 0.2


def test_probabilities_that_change_are_those_of_the_dispatch() -> None:
    """Round t is dispatch t - 1: INCLUSIVE in round 1 weighs a_i."""
    attendance = Sine(p=tuple(P), swing=0.3, period=20.0).attend(fleet_of(4))
    for t in (1, 6, 16):
        p = P * (0.3 * np.sin(2 * np.pi * (t - 1) / 20) + 0.7)
        expected = ((t * p - 1) ** 2).sum()
        assert measured(Inclusive(), attendance, round=t) == pytest.approx(expected, rel=1e-12)


def test_it_is_refused_where_no_probability_is_known() -> None:
    with pytest.raises(CapabilityError, match="'weight_bias' compares weights with the true"):
        measured(Inclusive(), Diurnal().attend(fleet_of(4)))


def test_it_is_part_of_the_evaluations_and_changes_nothing() -> None:
    """The bias of INCLUSIVE is 40 clients' (p_i t / (c_i + 1) - 1)^2."""
    table: dict[str, Any] = {
        "task": {
            "kind": "pca",
            "rank": 1,
            "data": {"kind": "gaussian_blocks", "clients": 40, "samples": 2, "dimension": 3},
        },
        "algorithm": {"kind": "rfedags", "step_size": 0.01, "steps": 1},
        "participation": {"kind": "bernoulli", "p": PUBLISHED.tolist()},
        "estimator": "inclusive",
        "horizon": {"rounds": 2},
        "evaluate_every": 1,
    }
    memory = Memory()
    more = run(from_mapping({**table, "metrics": ["weight_bias"]}), sinks=[memory])
    told = [r.values["weight_bias"] for r in memory.records if "weight_bias" in r.values]
    attendance = Bernoulli(p=tuple(PUBLISHED)).attend(fleet_of(40, seed=0))
    came = np.zeros(40)
    for t in (1, 2, 3):
        expected = ((PUBLISHED * t / (came + 1) - 1) ** 2).sum()
        assert told[t - 1] == pytest.approx(expected, rel=1e-12)
        came += attendance.responds(np.arange(40), t - 1)
    assert more.model_digest == run(from_mapping(table)).model_digest

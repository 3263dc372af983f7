"""The frequency rules: their definitions, and what they are on average."""

from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.columns import Column
from driftfold.estimators import Estimator, Inclusive, Past
from driftfold.estimators.counts import Counts
from driftfold.participation import Always, Bernoulli
from driftfold.participation.independent import IndependentResponses
from tests.participation.fleets import fleet_of


def multiplier(rule: Estimator[Any], count: int, t: int) -> float:
    """Weight over importance of a responder in round t with `count` earlier responses."""
    weights, _ = rule.weigh(Counts(Column(np.array([count]))), fleet_of(1), np.array([0]), t)
    return float(weights[0])


def exact_mean(rule: Estimator[Any], p: float, t: int) -> float:
    """E[1{i in S_t} w_i] / a_i by the binomial law of the earlier responses."""
    return p * sum(
        comb(t - 1, c) * p**c * (1 - p) ** (t - 1 - c) * multiplier(rule, c, t) for c in range(t)
    )


@pytest.mark.parametrize(
    ("rule", "count", "t", "expected"),
    [
        (Inclusive(), 0, 1, 1.0),
        (Inclusive(), 0, 500, 500.0),
        (Inclusive(), 4, 10, 2.0),
        (Past(), 3, 10, 3.0),
        (Past(), 0, 1, 2.0),
        (Past(), 0, 10, 11.0),
        (Past(unseen="zero"), 0, 10, 0.0),
        (Past(unseen="zero"), 3, 10, 3.0),
        (Past(prior=1.0), 3, 10, 11 / 4),
        (Past(prior=0.5), 0, 10, 20.0),
        (Past(prior=0.5, unseen="zero"), 0, 10, 0.0),
        (Past(max_weight=5.0), 0, 10, 5.0),
        (Past(max_weight=5.0), 3, 10, 3.0),
    ],
)
def test_weights_are_as_defined(rule: Estimator[Any], count: int, t: int, expected: float) -> None:
    assert multiplier(rule, count, t) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("rule", [Inclusive(), Past()])
def test_importance_scales_the_weight(rule: Estimator[Any]) -> None:
    even, odd = fleet_of(4), fleet_of(4)
    odd.importance[:] = [0.1, 0.2, 0.3, 0.4]
    state = Counts(Column(np.array([1, 2, 3, 4])))
    one, _ = rule.weigh(state, even, np.arange(4), 7)
    other, _ = rule.weigh(state, odd, np.arange(4), 7)
    np.testing.assert_allclose(other / odd.importance, one / 0.25, rtol=1e-15)


@pytest.mark.parametrize("rule", [Inclusive(), Past()])
def test_responses_are_counted_and_empty_rounds_only_pass(rule: Estimator[Any]) -> None:
    fleet = fleet_of(3)
    state = rule.begin(fleet, Always().attend(fleet))
    for t, responders in enumerate(([0, 2], [], [2]), start=1):
        if responders:
            _, state = rule.weigh(state, fleet, np.array(responders), t)
        else:
            state = rule.skip(state, t)
    assert np.asarray(state.responses).tolist() == [1, 0, 2]


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("t", [1, 2, 5, 8])
def test_inclusive_mean_over_all_histories(p: float, t: int) -> None:
    """T6, exactly: 1 - (1 - p)^t."""
    rule, fleet = Inclusive(), fleet_of(1)
    mean = 0.0
    for history in product((False, True), repeat=t):
        state, weight = rule.begin(fleet, Always().attend(fleet)), 0.0
        for s, answers in enumerate(history, start=1):
            weight = 0.0
            if answers:
                weights, state = rule.weigh(state, fleet, np.array([0]), s)
                weight = float(weights[0])
        mean += weight * np.prod(np.where(history, p, 1 - p))
    assert mean == pytest.approx(1 - (1 - p) ** t, rel=1e-12)


@pytest.mark.parametrize(("t", "published"), [(1, 0.100), (10, 0.651), (50, 0.995)])
def test_inclusive_mean_is_low_at_first(t: int, published: float) -> None:
    """T6: the table of p = 0.1."""
    mean = exact_mean(Inclusive(), 0.1, t)
    assert mean == pytest.approx(1 - 0.9**t, rel=1e-12)
    assert round(mean, 3) == published


def test_inclusive_mean_over_many_clients() -> None:
    """T6 by simulation; tests/algorithms/test_cold_start.py has what it does to a run."""
    means, errors = simulated(Inclusive(), p=0.1, rounds=50, clients=20_000)
    t = np.arange(1, 51)
    # 50 dependent comparisons, the largest within five standard errors.
    assert np.all(np.abs(means - (1 - 0.9**t)) < 5 * errors)


def simulated(rule: Estimator[Any], p: float, rounds: int, clients: int) -> tuple[Floats, Floats]:
    """Mean of 1{i in S_t} w_i / a_i over clients in each round, and its standard error."""
    fleet = fleet_of(clients)
    attendance = Bernoulli(p=p).attend(fleet)
    assert isinstance(attendance, IndependentResponses)
    state = rule.begin(fleet, attendance)
    rows = np.zeros((rounds, clients))
    for t in range(1, rounds + 1):
        responders = np.flatnonzero(attendance.responds(np.arange(clients), t - 1))
        weights, state = rule.weigh(state, fleet, responders, t)
        rows[t - 1, responders] = weights * clients
    return rows.mean(axis=1), rows.std(axis=1) / np.sqrt(clients)


def test_past_is_high_until_every_client_is_known() -> None:
    rule = Past(unseen="zero")
    assert exact_mean(rule, 0.1, 1) == 0.0
    assert round(exact_mean(rule, 0.1, 50), 2) == 1.26
    assert exact_mean(rule, 0.1, 800) == pytest.approx(1.0, abs=0.02)


def test_past_mean_over_many_clients() -> None:
    means, errors = simulated(Past(), p=0.3, rounds=20, clients=20_000)
    exact = np.array([exact_mean(Past(), 0.3, t) for t in range(1, 21)])
    assert np.all(np.abs(means - exact) < 5 * errors)


def test_a_cap_lowers_the_mean() -> None:
    assert exact_mean(Past(max_weight=10.0), 0.05, 40) < exact_mean(Past(), 0.05, 40)


def test_a_client_who_always_answers_soon_weighs_its_importance() -> None:
    assert multiplier(Past(), 99, 100) == 1.0
    assert multiplier(Inclusive(), 99, 100) == 1.0

"""Known probabilities make the step unbiased, with a known variance; no correction does not."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Bools, Floats
from driftfold.errors import CapabilityError
from driftfold.estimators import Capped, Estimator, Hajek, Oracle, Shrunk, Silent, Unweighted
from driftfold.participation import (
    Always,
    Bernoulli,
    Diurnal,
    Dropout,
    InterleavedSine,
    Jump,
    KnownSchedule,
    Participation,
    Sine,
    Staircase,
    Uniform,
)
from driftfold.participation.cohort import cohort_weights
from driftfold.participation.independent import IndependentResponses
from tests.participation.fleets import PUBLISHED, fleet_of

DRAWS = 100_000


@cache
def published_draws() -> Bools:
    """Who answers each of many dispatches, shape (DRAWS, 40)."""
    attendance = Bernoulli(p=tuple(PUBLISHED)).attend(fleet_of(40))
    assert isinstance(attendance, IndependentResponses)
    clients, dispatches = np.arange(40), np.arange(DRAWS)
    # All dispatches in one call; the first ones must be what `responds` says.
    answers: Bools = (
        attendance.draws.uniform(clients, dispatches[:, None], 1)[..., 0] < attendance.p
    )
    said = np.array([attendance.responds(clients, d) for d in range(100)])
    assert np.array_equal(said, answers[:100])
    return answers


def oracle_weights(p: Floats) -> Floats:
    fleet = fleet_of(len(p))
    state = Oracle().begin(fleet, Bernoulli(p=tuple(p)).attend(fleet))
    return Oracle().weigh(state, fleet, np.arange(len(p)), 1)[0]


def expectation(rule: Estimator[Any], p: Floats, vectors: Floats) -> tuple[Floats, float]:
    """Mean and total variance of sum_{i in S} w_i v_i over all cohorts S, exactly."""
    fleet = fleet_of(len(p))
    state = rule.begin(fleet, Bernoulli(p=tuple(p)).attend(fleet))
    mean, square = np.zeros(vectors.shape[1]), 0.0
    for answers in product((False, True), repeat=len(p)):
        members = np.flatnonzero(answers)
        chance = np.prod(np.where(answers, p, 1 - p))
        if members.size:
            step = rule.weigh(state, fleet, members, 1)[0] @ vectors[members]
            mean += chance * step
            square += chance * float(step @ step)
    return mean, square - float(mean @ mean)


def test_true_probabilities_give_the_step_of_full_participation_on_average() -> None:
    """T3: over 1e5 draws, within four standard errors."""
    vectors = np.random.default_rng(0).normal(size=(40, 6))
    steps = published_draws() @ (oracle_weights(PUBLISHED)[:, None] * vectors)
    error = steps.mean(axis=0) - vectors.mean(axis=0)
    assert np.all(np.abs(error) < 4 * steps.std(axis=0) / np.sqrt(DRAWS))
    # The draws can tell: the uncorrected sum, scaled to the same total, fails the same test.
    plain = published_draws() @ (vectors / PUBLISHED.sum())
    off = plain.mean(axis=0) - vectors.mean(axis=0)
    assert np.any(np.abs(off) > 4 * plain.std(axis=0) / np.sqrt(DRAWS))


def test_variance_over_many_draws_is_the_formula() -> None:
    """T4 by simulation."""
    vectors = np.random.default_rng(1).normal(size=(40, 6))
    steps = published_draws() @ (oracle_weights(PUBLISHED)[:, None] * vectors)
    squares = ((steps - vectors.mean(axis=0)) ** 2).sum(axis=1)
    assert abs(squares.mean() - variance(PUBLISHED, vectors)) < 4 * squares.std() / np.sqrt(DRAWS)


def variance(p: Floats, vectors: Floats) -> float:
    """Sum_i (1 - p_i) / (p_i N^2) |v_i|^2."""
    return float(np.sum((1 - p) / p * (vectors**2).sum(axis=1)) / len(p) ** 2)


def test_mean_and_variance_over_all_cohorts_are_exact() -> None:
    """T3 and T4 without simulation; tests/algorithms/test_reweighted.py has them on manifolds."""
    rng = np.random.default_rng(2)
    p, vectors = rng.uniform(0.05, 1.0, 8), rng.normal(size=(8, 3))
    mean, spread = expectation(Oracle(), p, vectors)
    np.testing.assert_allclose(mean, vectors.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(spread, variance(p, vectors), rtol=1e-12)


@pytest.mark.parametrize("p", [(0.9, 0.5, 0.1), (0.2, 1.0, 0.7, 0.7, 0.05)])
def test_no_correction_follows_the_cohort_weights(p: tuple[float, ...]) -> None:
    """T5: the mean weight of client i is p~_i."""
    mean, _ = expectation(Unweighted(), np.array(p), np.eye(len(p)))
    np.testing.assert_allclose(mean, cohort_weights(np.array(p)), rtol=1e-12)


def test_no_correction_is_the_mean_over_responders() -> None:
    fleet = fleet_of(10)
    weights, _ = Unweighted().weigh(None, fleet, np.array([2, 3, 5, 7]), 9)
    np.testing.assert_allclose(weights, 0.25, rtol=1e-15)


def test_oracle_knows_uniform_sampling_and_full_participation() -> None:
    fleet = fleet_of(10)
    for model, weight in ((Uniform(size=4), 0.25), (Always(), 0.1)):
        state = Oracle().begin(fleet, model.attend(fleet))
        np.testing.assert_allclose(Oracle().weigh(state, fleet, np.arange(4), 1)[0], weight)


def test_oracle_is_refused_where_no_probability_is_known() -> None:
    fleet = fleet_of(3)
    with pytest.raises(CapabilityError, match="has none to tell; choose a participation"):
        Oracle().begin(fleet, Diurnal().attend(fleet))


def test_oracle_is_refused_where_a_client_never_answers() -> None:
    fleet = fleet_of(3)
    with pytest.raises(CapabilityError, match="p = 0 for client 1"):
        Oracle().begin(fleet, Bernoulli(p=(0.5, 0.0, 0.5)).attend(fleet))


CHANGING = (
    Sine(p=(0.9, 0.5, 0.2)),
    Staircase(p=(0.9, 0.5, 0.2)),
    InterleavedSine(p=(0.9, 0.5, 0.15)),
    Jump(p=(0.9, 0.5, 0.2), at=6, after=(0.1, 0.5, 0.7)),
    Diurnal(duty=(0.5, 0.4, 0.1), slot="dispatch"),
    Dropout(Sine(p=0.5), times=(4.0, 9.0, float("inf"))),
)


@pytest.mark.parametrize("model", CHANGING, ids=lambda model: type(model).__name__)
def test_oracle_follows_probabilities_that_change(model: Participation) -> None:
    """In each round the mean of w_i 1{i responds} is a_i, or 0 where i cannot respond."""
    fleet, everyone = fleet_of(3), np.arange(3)
    attendance, rule = model.attend(fleet), Oracle()
    assert isinstance(attendance, KnownSchedule)
    state = rule.begin(fleet, attendance)
    for t in range(1, 31):
        p = attendance.probability_at(everyone, t - 1)
        state = rule.foresee(state, attendance, everyone, t)
        weights, state = rule.weigh(state, fleet, everyone, t)
        np.testing.assert_allclose(p * weights, np.where(p > 0, 1 / 3, 0.0), rtol=1e-12)


@pytest.mark.parametrize("around", [Hajek, lambda r: Capped(r, 9.0), lambda r: Shrunk(r, 1.0)])
def test_rules_around_the_oracle_tell_it_of_the_round(around: Any) -> None:
    fleet, attendance = fleet_of(2), Jump(p=0.5, at=1, after=(0.8, 0.2)).attend(fleet_of(2))
    for rule in (around(Oracle()), Silent(around(Oracle()), rounds=5)):
        state = rule.begin(fleet, attendance)
        state = rule.foresee(state, attendance, np.arange(2), 2)
        first, second = rule.weigh(state, fleet, np.arange(2), 2)[0]
        np.testing.assert_allclose(second / first, 4.0)

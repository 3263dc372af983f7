"""Capped, self-normalised and shrunk weights, and clients that have gone, of any rule."""

from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.errors import CapabilityError
from driftfold.estimators import (
    Beta,
    Capped,
    Estimator,
    Hajek,
    Inclusive,
    Kalman,
    Oracle,
    Past,
    Shrunk,
    Silent,
    Unweighted,
)
from driftfold.estimators.diagnostics import largest_multiplier
from driftfold.participation import Bernoulli
from driftfold.spec import from_mapping
from tests.participation.fleets import fleet_of

P = (0.02, 0.5, 1.0, 0.1)
RULES: list[Estimator[Any]] = [Oracle(), Inclusive(), Past(), Past(unseen="zero"), Unweighted()]


def weighed(rule: Estimator[Any], rounds: list[list[int]]) -> tuple[list[Any], Any]:
    """Weights in each round, and the last state."""
    fleet = fleet_of(4)
    state = rule.begin(fleet, Bernoulli(p=P).attend(fleet))
    made = []
    for t, came in enumerate(rounds, start=1):
        if came:
            weights, state = rule.weigh(state, fleet, np.array(came), t)
            made.append(weights)
        else:
            state = rule.skip(state, t)
    return made, state


ROUNDS: list[list[int]] = [[1, 2], [2], [], [2, 3], [0, 1, 2, 3], [2], [0, 2]]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_no_weight_is_above_the_cap_and_others_are_as_they_were(rule: Estimator[Any]) -> None:
    plain, history = weighed(rule, ROUNDS)
    capped, same = weighed(Capped(rule, max_weight=2.5), ROUNDS)
    for before, after in zip(plain, capped, strict=True):
        assert largest_multiplier(after, np.full(len(after), 0.25)) <= 2.5
        assert np.array_equal(after, np.where(before > 2.5 / 4, 2.5 / 4, before))
    assert any(np.any(before > 2.5 / 4) for before in plain)
    for mine, theirs in zip(
        vars(history or object).items(), vars(same or object).items(), strict=True
    ):
        assert np.array_equal(mine[1], theirs[1])


def test_a_cap_at_the_largest_inverse_probability_changes_nothing() -> None:
    plain, _ = weighed(Oracle(), ROUNDS)
    capped, _ = weighed(Capped(Oracle(), max_weight=1 / min(P)), ROUNDS)
    assert all(map(np.array_equal, plain, capped))


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_self_normalised_weights_sum_to_one_and_keep_their_ratios(rule: Estimator[Any]) -> None:
    plain, _ = weighed(rule, ROUNDS)
    normal, _ = weighed(Hajek(rule), ROUNDS)
    for before, after in zip(plain, normal, strict=True):
        assert after.sum() == pytest.approx(1.0 if before.any() else 0.0, abs=1e-15)
        np.testing.assert_allclose(after * before.sum(), before, rtol=1e-14)


def test_the_self_normalised_mean_is_consistent() -> None:
    """With known p the mean over many clients tends to the mean over all: error about N^(-1/2).

    Numbers that are equal are met exactly, which the sum of weights 1 / (p_i N) misses.
    """
    n, rng = 4000, np.random.default_rng(3)
    p, values = rng.uniform(0.1, 1.0, n), rng.normal(size=n)
    fleet = fleet_of(n)
    attendance = Bernoulli(p=tuple(p)).attend(fleet)
    members = np.flatnonzero(attendance.responds(np.arange(n), 1))
    found = {}
    for rule in (Hajek(Oracle()), Oracle()):
        weights, _ = rule.weigh(rule.begin(fleet, attendance), fleet, members, 1)
        found[type(rule)] = weights @ (values[members] + p[members]), weights.sum()
    # Standard error: sqrt(mean of (1/p - 1) (v + p)^2 / n), about 0.03.
    assert found[Hajek][0] == pytest.approx((values + p).mean(), abs=0.1)
    assert found[Hajek][1] == pytest.approx(1.0, abs=1e-14)
    assert abs(found[Oracle][1] - 1) > 1e-4


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_shrunk_weights_lie_between_the_rule_and_the_plain_mean(rule: Estimator[Any]) -> None:
    plain, mean = weighed(rule, ROUNDS)[0], weighed(Unweighted(), ROUNDS)[0]
    for share in (0.0, 0.3, 1.0):
        mixed, _ = weighed(Shrunk(rule, share), ROUNDS)
        for made, one, other in zip(mixed, plain, mean, strict=True):
            np.testing.assert_allclose(made, share * one + (1 - share) * other, rtol=1e-14)


def test_silent_clients_leave_the_objective_and_come_back() -> None:
    """Four clients, D = 2: who was heard in the two rounds before shares the whole weight."""
    fleet = fleet_of(4)
    fleet.importance[:] = [0.1, 0.2, 0.3, 0.4]
    p = np.array([0.02, 0.5, 1.0, 0.1])
    rule = Silent(Oracle(), rounds=2)
    state = rule.begin(fleet, Bernoulli(p=P).attend(fleet))
    last = np.zeros(4)
    for t, came in enumerate([[1, 2], [2], [], [0, 2], [0, 1, 2, 3], [], [], [3]], start=1):
        if not came:
            state = rule.skip(state, t)
            continue
        weights, state = rule.weigh(state, fleet, np.array(came), t)
        belongs = t - 1 - last < 2
        for client, weight in zip(came, weights, strict=True):
            expected = 0.0
            if belongs[client]:
                expected = fleet.importance[client] / p[client] / fleet.importance[belongs].sum()
            assert weight == pytest.approx(expected, rel=1e-14)
        last[came] = t
    assert not weights.any()  # nobody was heard for two rounds, so nobody is left to weigh


def test_the_inner_rule_is_told_of_silence() -> None:
    """Whose rounds without an answer change the state."""
    inner = Kalman()
    wrapped: list[Estimator[Any]] = [Capped(inner, 3.0), Hajek(inner), Shrunk(inner)]
    for rule in [*wrapped, Silent(inner, 9)]:
        _, state = weighed(rule, [[0], [], []])
        _, plain = weighed(Kalman(), [[0], [], []])
        assert np.array_equal(getattr(state, "rule", state).theta, plain.theta)


def test_what_depends_on_who_else_responds_says_so() -> None:
    apart: list[Estimator[Any]] = [Oracle(), Past(), Capped(Beta(), 3.0), Silent(Kalman(), 3)]
    for rule in apart:
        assert rule.alone
        state, fleet = rule.begin(fleet_of(4), Bernoulli(p=P).attend(fleet_of(4))), fleet_of(4)
        together, _ = rule.weigh(state, fleet, np.arange(4), 1)
        by_itself = [rule.weigh(state, fleet, np.array([i]), 1)[0][0] for i in range(4)]
        assert np.array_equal(together, by_itself)
    others: list[Estimator[Any]] = [Unweighted(), Hajek(Oracle()), Shrunk(Oracle())]
    for rule in [*others, Silent(Hajek(Past()), 3)]:
        assert not rule.alone


def test_wrappers_need_what_they_wrap_needs() -> None:
    for wrapped in (Capped(Hajek(Oracle()), 5.0), Hajek(Capped(Oracle(), 5.0))):
        assert wrapped.needs_probability
    assert not Hajek(Capped(Inclusive(), 5.0)).needs_probability
    nested = {"kind": "capped", "max_weight": 4.0, "rule": {"kind": "hajek", "rule": "oracle"}}
    table: dict[str, Any] = {
        "task": {"kind": "pca", "rank": 1, "data": {"kind": "gaussian_blocks", "clients": 3}},
        "algorithm": "rfedags",
        "participation": "bernoulli",
        "estimator": nested,
        "horizon": {"rounds": 1},
    }
    assert from_mapping(table).estimator == Capped(Hajek(Oracle()), 4.0)
    with pytest.raises(CapabilityError, match="'capped' needs the true probabilities"):
        build(from_mapping({**table, "participation": "diurnal"}))

"""Capped and self-normalised weights, of any rule."""

from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.errors import CapabilityError
from driftfold.estimators import Capped, Estimator, Hajek, Inclusive, Oracle, Past, Unweighted
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

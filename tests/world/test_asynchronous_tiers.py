"""Tiers side by side, against calculations by hand: who steps when, from which model, how much."""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.assembly import build
from driftfold.errors import CapabilityError
from driftfold.spec import from_mapping
from tests.algorithms import textbook
from tests.world.scripted import rounds, told
from tests.world.test_flow import BETA, FOUR, SPHERE, D, centres

TIERS = {"kind": "asynchronous_tiers", "tiers": 2}
# Clients 0 and 1 take 1 and 1.6 s, 2 and 3 take 2.2 and 4.1: a fast round lasts 1.6 s, a slow one
# 4.1. Each with its tier and the version that its cohort downloaded.
SCRIPT = [
    (1.6, 0, 0),
    (3.2, 0, 1),
    (4.1, 1, 0),
    (4.8, 0, 2),
    (6.4, 0, 4),
    (8.0, 0, 5),
    (8.2, 1, 3),
]
MEMBERS = [[0, 1], [2, 3]]


def fedat(inner: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "fedat", "tiers": 2, "algorithm": inner, **more}


def test_fedat_is_the_hand_calculation() -> None:
    result, records = told(
        FOUR, algorithm=fedat(FOUR["algorithm"]), cadence=TIERS, horizon={"rounds": len(SCRIPT)}
    )
    c, xs, count = centres(), [np.zeros(D)], [0, 0]
    models = [np.zeros(D), np.zeros(D)]
    for _, tier, version in SCRIPT:
        ends = [xs[version] + BETA * (c[i] - xs[version]) for i in MEMBERS[tier]]
        models[tier] = np.mean(ends, axis=0)
        count[tier] += 1
        fast, slow = count[1] / sum(count), count[0] / sum(count)
        xs.append(fast * models[0] + slow * models[1])
    assert np.abs(result.model - xs[-1]).max() < 1e-14
    steps = [r for r in records if r.kind == "round"]
    assert [r.time for r in steps] == pytest.approx([time for time, _, _ in SCRIPT])
    assert [r.values["tier"] for r in steps] == [tier for _, tier, _ in SCRIPT]
    assert [r.values["staleness_max"] for r in steps] == [0, 0, 2, 1, 0, 0, 3]
    # The slow tier has the weight of the fast one's rounds, and the other way round.
    shares = [r.values["tier_share"] for r in steps]
    assert shares == pytest.approx([0, 0, 2 / 3, 1 / 4, 1 / 5, 1 / 6, 5 / 7])
    assert result.conventions["tier_weight"].startswith("lambda_m = T_{M+1-m} / sum_j T_j")
    assert result.conventions["tiers"].startswith("2 of equal size")


def test_fedat_on_the_sphere() -> None:
    inner = {"kind": "rfedavg", "steps": 1, "step_size": 0.8}
    table = {**SPHERE, "algorithm": fedat(inner), "cadence": TIERS}
    problem: Any = build(from_mapping({**table, "horizon": {"rounds": 1}})).problem
    result, _ = told(table, horizon={"rounds": len(SCRIPT)})
    xs, count = [problem.initial_point()], [0, 0]
    models = [xs[0], xs[0]]
    for _, tier, version in SCRIPT:
        old, ways = xs[version], []
        for client in MEMBERS[tier]:
            z = problem.data.x[client]
            g = -2 * z.T @ (z @ old) / len(z)
            ways.append(-0.8 * (g - (g @ old) * old))
        models[tier] = _exp(old, np.mean(ways, axis=0))
        count[tier] += 1
        x = xs[-1]
        v = count[1] * _log(x, models[0]) + count[0] * _log(x, models[1])
        xs.append(_exp(x, v / sum(count)))
    assert np.abs(result.model - xs[-1]).max() < 1e-13
    assert np.abs(xs[-1] - xs[0]).max() > 0.01


def _exp(x: Array, u: Array) -> Array:
    if not u.any():
        return x
    point: Array = textbook.sphere_exp(x, u)
    return point


def _log(x: Array, y: Array) -> Array:
    if np.array_equal(x, y):
        return np.zeros_like(x)
    way: Array = textbook.sphere_log(x, y)
    return way


def test_a_private_sum_is_a_tiers_own() -> None:
    """Nothing clipped, no noise: each tier steps from where it began, in private too."""
    table = {**SPHERE, "cadence": TIERS, "horizon": {"rounds": len(SCRIPT)}}
    bare = fedat({"kind": "rfedavg", "steps": 1, "step_size": 0.8})
    private = {"kind": "private", "noise": 0.0, "clip": 1e6, "delta": "none", "algorithm": bare}
    one, _ = told(table, algorithm=bare)
    two, _ = told(table, algorithm=private)
    assert np.abs(one.model - two.model).max() < 1e-13


def test_other_algorithms_step_by_their_own_weights() -> None:
    """FedAvg: the mean of a tier's ways, from wherever the server is, less if they are old."""
    staleness = {"kind": "polynomial"}
    result, _ = told(FOUR, cadence={**TIERS, "staleness": staleness}, horizon={"rounds": 4})
    c, xs = centres(), [np.zeros(D)]
    for _, tier, version in SCRIPT[:4]:
        way = np.mean([BETA * (c[i] - xs[version]) for i in MEMBERS[tier]], axis=0)
        xs.append(xs[-1] + (len(xs) - version) ** -0.5 * way)
    assert np.abs(result.model - xs[-1]).max() < 1e-14


def test_one_tier_is_a_round() -> None:
    table = {**FOUR, "horizon": {"rounds": 5}}
    one, _ = told(table, cadence={"kind": "asynchronous_tiers", "tiers": 1})
    for algorithm in (FOUR["algorithm"], {**fedat(FOUR["algorithm"]), "tiers": 1}):
        two, _ = told(table, algorithm=algorithm, cadence={"kind": "synchronous"})
        assert np.abs(one.model - two.model).max() < 1e-14
    assert one.time == pytest.approx(5 * 4.1)


def test_a_tier_goes_on_with_whom_it_has() -> None:
    """Client 0 leaves at 1.2 and comes back at 5; the slow are there from 3 on only."""
    on = {"kind": "test-sessions", "on": [[0.0, 1.2, 5.0, 99.0], [0.0, 99.0], [3.0, 99.0],
                                          [3.0, 99.0]]}  # fmt: skip
    _, records = told(FOUR, cadence=TIERS, participation=on, horizon={"rounds": 5})
    steps = [r for r in records if r.kind == "round"]
    # Fast: both at 1.6, then client 1 alone, from 4.8 to 6.4 too. Slow: 3 + 4.1.
    assert [r.time for r in steps] == pytest.approx([1.6, 3.2, 4.8, 6.4, 7.1])
    assert [r["accepted"] for r in rounds(records)] == [2.0, 1.0, 1.0, 1.0, 2.0]


def test_nobody_answers() -> None:
    result, _ = told(
        FOUR, cadence=TIERS, participation={"kind": "bernoulli", "p": 1e-12},
        horizon={"rounds": 2},
    )  # fmt: skip
    assert (result.ended, result.counts["skipped"], result.counts["accepted"]) == ("rounds", 2, 0)


def test_everybody_leaves() -> None:
    """At 3 both rounds under way end with the one of their two that has answered."""
    on = {"kind": "test-sessions", "on": [[0.0, 3.0]] * 4}
    result, _ = told(FOUR, cadence=TIERS, participation=on, horizon={"rounds": 9})
    assert (result.ended, result.rounds) == ("nobody left", 3)


def test_visits_may_take_no_time() -> None:
    latency = {"kind": "test-delays", "work": [0.0] * 4}
    result, records = told(FOUR, cadence=TIERS, latency=latency, horizon={"rounds": 4})
    assert (result.ended, result.time) == ("rounds", 0.0)
    assert [r["accepted"] for r in rounds(records)] == [2.0] * 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": {"kind": "rfedsvrg"}, "cadence": TIERS}, "2 exchanges in a round"),
        ({"algorithm": fedat({"kind": "fedavg"})}, "'synchronous' has 1; choose cadence 'asynch"),
        (
            {"algorithm": fedat({"kind": "fedavg"}), "cadence": {"kind": "buffered"}},
            "tiers = 2",
        ),
        (
            {"algorithm": {**fedat({"kind": "fedavg"}), "tiers": 3}, "cadence": TIERS},
            "keeps 3 cohorts apart",
        ),
        (
            {"algorithm": fedat({"kind": "rfedavg", "server": {"kind": "adam"}}), "cadence": TIERS},
            "moments",
        ),
        ({"algorithm": fedat({"kind": "rfedsvrg"}), "cadence": TIERS}, "several exchanges"),
    ],
)
def test_pairings_without_a_meaning_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CapabilityError, match=message):
        build(from_mapping({**FOUR, "horizon": {"rounds": 1}, **changes}))

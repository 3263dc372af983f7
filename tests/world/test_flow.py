"""Cadences without rounds, against calculations by hand: who contributes, how old, how much."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array, Floats
from driftfold.assembly import build
from driftfold.errors import CapabilityError
from driftfold.spec import from_mapping
from tests.world.scripted import rounds, told

ALPHA, STEPS, D = 0.25, 3, 3
BETA = 1 - (1 - ALPHA) ** STEPS  # full steps from x end at x + BETA (c_i - x)
FOUR: dict[str, Any] = {
    "task": {"kind": "test-quadratic", "clients": 4, "noise": 0.0},
    "algorithm": {"kind": "fedavg", "steps": STEPS, "step_size": ALPHA},
    "latency": {"kind": "test-delays", "work": [1.0, 1.6, 2.2, 4.1]},
    "evaluate_every": 1,
}
# All four begin at once, and begin again when they have answered. Who makes each step, and which
# version each had downloaded: worked out on paper from the times 1, 1.6, 2.2 and 4.1.
BUFFER_OF_TWO = [
    (1.6, [(0, 0), (1, 0)]),
    (2.2, [(0, 0), (2, 0)]),
    (3.2, [(0, 1), (1, 1)]),
    (4.1, [(0, 2), (3, 0)]),
]
AT_ONCE = [(1.0, (0, 0)), (1.6, (1, 0)), (2.0, (0, 1)), (2.2, (2, 0)), (3.0, (0, 3))]


def centres(table: dict[str, Any] = FOUR, **more: Any) -> Floats:
    problem: Any = build(from_mapping({**table, "horizon": {"rounds": 1}, **more})).problem
    made: Floats = problem.centres
    return made


def test_fedbuff_is_the_hand_calculation() -> None:
    cadence = {"kind": "buffered", "concurrency": 4, "buffer": 2}
    result, records = told(FOUR, cadence=cadence, horizon={"rounds": 4})
    c, xs = centres(), [np.zeros(D)]
    for _, answers in BUFFER_OF_TWO:
        version = len(xs) - 1
        deltas = [(1 + version - v) ** -0.5 / 2 * BETA * (c[i] - xs[v]) for i, v in answers]
        xs.append(xs[-1] + sum(deltas))
    # Sums of a dozen terms of size 1, in another order.
    assert np.abs(result.model - xs[-1]).max() < 1e-14
    steps = [r for r in records if r.kind == "round"]
    assert [r.time for r in steps] == pytest.approx([time for time, _ in BUFFER_OF_TWO])
    last = steps[-1].values
    assert (last["staleness_mean"], last["staleness_max"]) == (2.0, 3.0)
    assert last["staleness_factor"] == pytest.approx((2**-0.5 + 4**-0.5) / 2)
    histogram = {name: [r.values[f"stale_{name}"] for r in steps] for name in ("0", "1", "2_3")}
    assert histogram == {"0": [2, 0, 0, 0], "1": [0, 2, 2, 1], "2_3": [0, 0, 0, 1]}
    assert result.conventions["staleness_weight"] == "(1 + s)^-0.5"
    assert result.to_json()["conventions"]["object"].startswith("delta")


@pytest.mark.parametrize("mixes", ["delta", "model"])
def test_fedasync_is_the_hand_calculation(mixes: str) -> None:
    cadence = {"kind": "immediate", "concurrency": 4, "rate": 0.6, "mixes": mixes}
    hinge = {"kind": "hinge", "a": 2.0, "b": 1}
    result, records = told(FOUR, cadence={**cadence, "staleness": hinge}, horizon={"rounds": 5})
    c, xs = centres(), [np.zeros(D)]
    for _, (i, v) in AT_ONCE:
        s = len(xs) - 1 - v
        alpha = 0.6 * (1.0 if s <= 1 else 1 / (2.0 * (s - 1) + 1))
        y = xs[v] + BETA * (c[i] - xs[v])
        x = xs[-1]
        xs.append((1 - alpha) * x + alpha * y if mixes == "model" else x + alpha * (y - xs[v]))
    assert np.abs(result.model - xs[-1]).max() < 1e-14
    assert [r.time for r in records if r.kind == "round"] == pytest.approx([t for t, _ in AT_ONCE])


SPHERE: dict[str, Any] = {
    **FOUR,
    "task": {
        "kind": "pca", "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 4, "samples": 6, "dimension": D},
    },
    "algorithm": {"kind": "rfedags", "steps": 1, "step_size": 2.0},
}  # fmt: skip


@pytest.mark.parametrize("kind", ["buffered", "immediate"])
def test_stale_vectors_on_the_sphere_are_carried_to_the_present_point(kind: str) -> None:
    """Along the shortest way, as the sphere of this task does."""
    spec = from_mapping({**SPHERE, "horizon": {"rounds": 1}})
    problem: Any = build(spec).problem
    more = {"buffer": 2} if kind == "buffered" else {"rate": 0.5}
    script = BUFFER_OF_TWO if kind == "buffered" else [(t, [one]) for t, one in AT_ONCE]
    cadence = {"kind": kind, "concurrency": 4, **more}
    result, _ = told(SPHERE, cadence=cadence, horizon={"rounds": len(script)})
    carried = _on_the_sphere(problem, script, carry=True)
    assert np.abs(result.model - carried).max() < 1e-13
    left = _on_the_sphere(problem, script, carry=False)
    assert np.abs(left - carried).max() > 1e-6  # or the test would show nothing


def _on_the_sphere(problem: Any, script: Any, carry: bool) -> Array:
    manifold = problem.manifold
    xs = [problem.initial_point()]
    for _, answers in script:
        x, v = xs[-1], np.zeros_like(xs[-1])
        for client, version in answers:
            view = problem.view(np.array([client]), np.array([0]))
            old = xs[version]
            u = 2.0 * view.gradient(old[None], view.everything())[0]
            if carry:
                u = _parallel(old, x, u)
            v = v + (len(xs) - version) ** -0.5 / 2 * u
        y = manifold.retract(x, -v)
        xs.append(y)
    return xs[-1]


def _parallel(x: Array, y: Array, u: Array) -> Array:
    """Turn the plane of x and y so that x comes to y, and u with it."""
    c = float((x * y).sum())
    if c > 1 - 1e-15:
        return u
    w = (y - c * x) / np.sqrt(1 - c * c)
    along = float((u * w).sum())
    return u + along * (c * w - np.sqrt(1 - c * c) * x - w)


def test_places_are_filled_together_at_multiples_of_restock() -> None:
    """Client 0 is free at 1 and 1 at 1.6: both are invited again at 2, with the first step's model.

    Then 2 is free at 2.2, 0 at 3 and 1 at 3.6.
    """
    cadence = {"kind": "buffered", "concurrency": 4, "buffer": 2, "restock": 2.0}
    cadence["staleness"] = {"kind": "constant"}
    result, records = told(FOUR, cadence=cadence, horizon={"rounds": 3})
    c, x0 = centres(), np.zeros(D)
    x1 = x0 + BETA / 2 * (c[0] + c[1])
    x2 = x1 + BETA / 2 * (c[2] + c[0] - x1)
    x3 = x2 + BETA / 2 * (c[1] - x1 + c[3])  # at 3.6 and 4.1; at 4 three are invited
    assert np.abs(result.model - x3).max() < 1e-14
    assert [r.time for r in records if r.kind == "round"] == pytest.approx([1.6, 3.0, 4.1])
    assert [r["invited"] for r in rounds(records)] == [4.0, 2.0, 3.0]


def test_older_answers_are_dropped_or_count_as_the_oldest_allowed() -> None:
    """Bound 0: of the hand calculation only what was downloaded last counts."""
    cadence = {"kind": "buffered", "concurrency": 4, "buffer": 2, "max_staleness": 0}
    result, records = told(FOUR, cadence=cadence, horizon={"rounds": 2})
    assert [r["staleness_max"] for r in rounds(records)] == [0.0, 0.0]
    assert [r["unused"] for r in rounds(records)] == [0.0, 2.0]  # 0 at 2, 2 at 2.2
    assert result.time == pytest.approx(3.2)
    clipped, records = told(FOUR, cadence={**cadence, "beyond": "clip"}, horizon={"rounds": 4})
    assert [r["staleness_factor"] for r in rounds(records)] == [1.0] * 4
    assert clipped.counts["unused"] == 0


def test_answers_about_to_be_too_old_are_called_for() -> None:
    """Bound 1: of version 0, after the first step, everybody sends what is done by then.

    At 1.6 client 2 has done 2 steps of 3 (1.6 / 2.2), client 3 one (1.6 / 4.1), and client 0, which
    went out again at 1, one (0.6 / 1). The first two make the second step at that very instant;
    then the third is too old. At 3.2 it all happens again.
    """
    cadence = {
        "kind": "buffered", "concurrency": 4, "buffer": 2, "max_staleness": 1, "beyond": "force",
    }  # fmt: skip
    partial = {"on_interrupt": "partial"}
    result, records = told(FOUR, cadence=cadence, faults=partial, horizon={"rounds": 4})
    c, x = centres(), np.zeros(D)
    mean_step = {k: (1 - (1 - ALPHA) ** k) * STEPS / k for k in (1, 2)}
    for _ in range(2):
        y = x + BETA / 2 * (c[0] + c[1] - 2 * x)
        x = y + 2**-0.5 / 2 * (mean_step[2] * (c[2] - x) + mean_step[1] * (c[3] - x))
    assert np.abs(result.model - x).max() < 1e-14
    assert [r.time for r in records if r.kind == "round"] == pytest.approx([1.6, 1.6, 3.2, 3.2])
    assert [r["partial"] for r in rounds(records)] == [0.0, 2.0, 1.0, 2.0]
    assert [r["unused"] for r in rounds(records)] == [0.0, 0.0, 1.0, 0.0]
    assert "steps done are sent" in result.conventions["staleness_beyond"]


def test_called_in_the_first_step_there_is_nothing_to_send() -> None:
    """At 2.2 client 2 has done 0.1 of its 5 s, and client 0 is at its second download."""
    cadence = {
        "kind": "buffered", "concurrency": 3, "buffer": 2, "max_staleness": 1, "beyond": "force",
    }  # fmt: skip
    latency = {"kind": "test-delays", "work": [0.1, 0.2, 5.0], "download": 2.0}
    result, _ = told(
        {**FOUR, "task": {"kind": "test-quadratic", "clients": 3, "noise": 0.0}},
        cadence=cadence, latency=latency, faults={"on_interrupt": "partial"},
        horizon={"seconds": 2.3},
    )  # fmt: skip
    assert (result.rounds, result.counts["late"], result.counts["partial"]) == (1, 2, 0)


def test_who_sends_already_is_not_called() -> None:
    """Its answer is whole, and counts if it comes before the next step."""
    cadence = {
        "kind": "buffered", "concurrency": 4, "buffer": 2, "max_staleness": 1, "beyond": "force",
    }  # fmt: skip
    latency = {"kind": "test-delays", "work": [1.0, 1.0, 1.5, 9.0], "upload": 1.0}
    result, records = told(
        FOUR, cadence=cadence, latency=latency, faults={"on_interrupt": "partial"},
        horizon={"rounds": 2},
    )  # fmt: skip
    # The first step at 2; client 2 has been sending since 1.5, client 3 has done 2 s of 9.
    assert [r.time for r in records if r.kind == "round"] == pytest.approx([2.0, 4.0])
    assert result.counts["late"] == 1
    assert [r["staleness_max"] for r in rounds(records)] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": {"kind": "rfedsvrg"}}, "2 exchanges in a round"),
        ({"estimator": {"kind": "oracle"}}, "estimates the probability of contributing at all"),
        (
            {"algorithm": {"kind": "private", "clip": 1.0, "algorithm": {"kind": "fedavg"}}},
            "'private' bounds each contribution",
        ),
        (
            {"cadence": {"kind": "immediate"}, "estimator": {"kind": "oracle"}},
            "how often a client contributes depends on how fast it is",
        ),
        (
            {"cadence": {"kind": "immediate", "mixes": "model"}, "algorithm": {"kind": "rfedags"}},
            "mixes models, and clients send Tangent",
        ),
    ],
)
def test_pairings_without_a_meaning_are_refused(changes: dict[str, Any], message: str) -> None:
    table = {**FOUR, "cadence": {"kind": "buffered"}, "horizon": {"rounds": 1}, **changes}
    with pytest.raises(CapabilityError, match=message):
        build(from_mapping(table))


def test_periodic_steps_come_by_the_clock() -> None:
    """Bounds of 2 s in the times of the hand calculation; what is in at 2.0 itself counts."""
    result, records = told(
        FOUR,
        cadence={"kind": "periodic", "concurrency": 4, "period": 2.0},
        horizon={"rounds": 2},
    )
    c, x0 = centres(), np.zeros(D)
    first = [(0, x0), (1, x0), (0, x0)]  # at 1, 1.6 and 2
    x1 = x0 + BETA / 3 * sum(c[i] - x for i, x in first)
    # Client 2 at 2.2 with x0; 0 at 3 and 4 with x1; 1 at 3.2 with x0, invited again at 1.6.
    second = [(2, x0, 2**-0.5), (0, x1, 1.0), (1, x0, 2**-0.5), (0, x1, 1.0)]
    x2 = x1 + BETA / 4 * sum(w * (c[i] - x) for i, x, w in second)
    assert np.abs(result.model - x2).max() < 1e-14
    assert [r.time for r in records if r.kind == "round"] == [2.0, 4.0]


def test_periods_without_answers_change_nothing() -> None:
    cadence = {"kind": "periodic", "concurrency": 4, "period": 0.75}
    result, records = told(FOUR, cadence=cadence, horizon={"rounds": 2})
    assert [(r["skipped"], r["accepted"]) for r in rounds(records)] == [(1.0, 0.0), (0.0, 1.0)]
    assert result.time == 1.5


def test_tiers_are_clients_of_like_speed() -> None:
    """Two tiers of two: a round lasts as long as the slower of its own two."""
    _, records = told(FOUR, cadence={"kind": "tiered", "tiers": 2}, horizon={"rounds": 12})
    times = [0.0, *(r.time for r in records if r.kind == "round")]
    lasted = {round(b - a, 9) for a, b in pairwise(times)}
    assert lasted == {1.6, 4.1}
    assert all(r["accepted"] == 2 for r in rounds(records))


def test_with_too_few_clients_the_buffer_is_emptied_by_its_patience() -> None:
    """Three of four never answer; the fourth cannot be asked again, being switched off at 3 s."""
    latency = {"kind": "test-delays", "never": [1, 2, 3]}
    on = {"kind": "test-sessions", "on": [[0.0, 3.0]]}
    cadence = {"kind": "buffered", "concurrency": 4, "buffer": 9, "patience": 10.0}
    result, records = told(
        FOUR, cadence=cadence, latency=latency, participation=on, horizon={"rounds": 1}
    )
    assert (result.time, rounds(records)[0]["accepted"]) == (10.0, 3.0)


@pytest.mark.parametrize("kind", ["buffered", "immediate"])
def test_visits_may_take_no_time(kind: str) -> None:
    """And there may be fewer clients than places."""
    latency = {"kind": "test-delays", "work": [0.0] * 4}
    result, records = told(FOUR, cadence={"kind": kind}, latency=latency, horizon={"rounds": 4})
    assert (result.ended, result.time) == ("rounds", 0.0)
    assert [r["accepted"] for r in rounds(records)] == [5.0 if kind == "buffered" else 1.0] * 4


def test_nobody_answers_and_nobody_is_waited_for() -> None:
    """Everybody declines: steps that change nothing, each after a hundred invitations."""
    everyone_declines = {"kind": "bernoulli", "p": 1e-12}
    result, _ = told(
        FOUR,
        cadence={"kind": "buffered"},
        participation=everyone_declines,
        horizon={"rounds": 2},
    )
    assert (result.ended, result.counts["skipped"], result.counts["accepted"]) == ("rounds", 2, 0)


def test_a_round_with_too_few_answers_changes_nothing() -> None:
    cadence = {"kind": "synchronous", "deadline": 2.0, "minimum": 3}
    result, records = told(FOUR, cadence=cadence, horizon={"rounds": 2})
    assert [(r["unused"], r["skipped"]) for r in rounds(records)] == [(2.0, 1.0)] * 2
    assert result.time == 6.0  # twice two seconds and a pause
    assert not result.model.any()

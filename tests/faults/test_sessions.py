"""Sessions that end in mid-work, flap, have no length, or end at the very instant of an event.

The rule: a session is [start, end). At its end the client is off, but work that ends at that very
instant still counts.
"""

from typing import Any

import numpy as np
import pytest

from tests.world.scripted import CLIENTS, TABLE, WORK, model_after, rounds, told

ALWAYS = [0.0, 1e9]


def first_leaves(*on: float) -> dict[str, Any]:
    return {"kind": "test-sessions", "on": [list(on)]}


def work(*seconds: float, **more: Any) -> dict[str, Any]:
    return {"kind": "test-delays", "work": list(seconds), **more}


@pytest.mark.parametrize(
    ("ends", "dropped"),
    [(1.0, 1), (3.9, 1), (np.nextafter(4.0, 0.0), 1), (4.0, 0), (4.1, 0)],
)
def test_work_that_ends_with_the_session_counts(ends: float, dropped: int) -> None:
    latency = work(2.0, download=1.0, upload=1.0)
    result, _records = told(
        TABLE, participation=first_leaves(0.0, ends), latency=latency, horizon={"rounds": 1}
    )
    assert (result.counts["dropped"], result.counts["arrived"]) == (dropped, CLIENTS - dropped)
    assert result.ended == "rounds"


@pytest.mark.parametrize("cadence", [{}, {"deadline": 50.0}, {"cohort": 6}], ids=str)
def test_the_round_closes_without_those_who_left(cadence: dict[str, Any]) -> None:
    """The last to be heard of is one that answers: nobody must wait for the others' places."""
    result, records = told(
        TABLE,
        participation=first_leaves(0.0, 0.5),
        latency=work(1.0, 2.0, 3.0),
        cadence={"kind": "synchronous", **cadence},
    )
    assert [r["dropped"] for r in rounds(records)] == [1.0, 0.0, 0.0]
    assert [r["arrived"] for r in rounds(records)] == [5.0, 5.0, 5.0]
    assert result.time == 9.0
    others = list(range(1, CLIENTS))
    np.testing.assert_allclose(result.model, model_after([others] * 3), rtol=0, atol=1e-14)


def test_what_is_lost_is_never_computed() -> None:
    WORK.clear()
    told(TABLE, participation=first_leaves(0.0, 0.5), latency=work(1.0), horizon={"rounds": 2})
    assert [(list(range(1, CLIENTS)), 3)] * 2 == WORK


def test_the_round_closes_when_the_last_one_leaves() -> None:
    result, _records = told(
        TABLE, participation=first_leaves(0.0, 5.0), latency=work(9.0), horizon={"rounds": 1}
    )
    assert (result.time, result.counts["dropped"], result.counts["arrived"]) == (5.0, 1, 5)


def test_when_all_leave_the_round_is_skipped() -> None:
    on = [[0.0, 0.5, 10.0, 1e9]] * CLIENTS
    _result, records = told(
        TABLE, participation={"kind": "test-sessions", "on": on}, latency=work()
    )
    assert [r["dropped"] for r in rounds(records)] == [6.0, 0.0, 0.0]
    assert [r["skipped"] for r in rounds(records)] == [1.0, 0.0, 0.0]
    assert [r.time for r in records if r.kind == "round"] == [1.5, 11.0, 12.0]


def test_a_session_without_length_never_was() -> None:
    result, _ = told(
        TABLE,
        participation={"kind": "test-sessions", "on": [[5.0, 5.0]] * CLIENTS},
        horizon={"rounds": 9},
    )
    assert (result.ended, result.rounds, result.counts["invited"]) == ("nobody left", 0, 0)


def test_work_without_duration_is_done_in_a_session_however_short() -> None:
    on = [[5.0, 5.0 + 1e-9]] * CLIENTS
    result, _ = told(
        TABLE, participation={"kind": "test-sessions", "on": on}, horizon={"rounds": 1}
    )
    assert (result.time, result.counts["accepted"]) == (5.0, CLIENTS)


@pytest.mark.parametrize("seconds", [0.25, 0.5, 0.75])
def test_flapping_clients(seconds: float) -> None:
    """On and off every second: work of up to a session's length is done, longer work never."""
    flaps = [float(t) for t in range(20)]
    result, _records = told(
        TABLE,
        participation={"kind": "test-sessions", "on": [flaps] * CLIENTS},
        latency=work(*[seconds] * CLIENTS, download=seconds / 2),
        horizon={"rounds": 1000},
    )
    assert result.ended == "nobody left"
    assert result.time <= 20.0
    each_takes = 1.5 * seconds
    assert (result.counts["accepted"] > 0) == (each_takes <= 1.0)
    assert result.counts["invited"] == (
        result.counts["arrived"] + result.counts["dropped"] + result.counts["late"]
    )


def test_partial_work_is_lost_or_kept_as_the_algorithm_says() -> None:
    """`commit` keeps what a client learnt before it left; its payload is lost either way."""
    table = {
        **TABLE,
        "task": {"kind": "test-quadratic", "clients": CLIENTS},
        # Phase one takes 5 s of everybody, phase two 20 s in 4 steps; client 0 leaves in it.
        "latency": {"kind": "constant", "per_sample": 0.5},
        "participation": first_leaves(0.0, 16.0),
        "horizon": {"rounds": 1},
    }
    for dropout, visits in (("rollback", 5.0), ("commit", 6.0)):
        result, records = told(table, algorithm={"kind": "test-two-phase", "dropout": dropout})
        assert result.counts["dropped"] == 1
        assert result.metrics["visits"] == visits
        detail = next(r.detail for r in records if r.kind == "round")
        assert detail is not None
        assert detail["client"].tolist() == [1, 2, 3, 4, 5]

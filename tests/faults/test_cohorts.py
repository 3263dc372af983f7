"""Cohorts that do not fit the pool, and pools that change within a round."""

from typing import Any

import pytest

from tests.world.scripted import CLIENTS, TABLE, rounds, told


@pytest.mark.parametrize("cohort", [CLIENTS, CLIENTS + 1, 10**9])
@pytest.mark.parametrize("over", [1.0, 3.0])
def test_a_pool_that_is_too_small_is_taken_whole(cohort: int, over: float) -> None:
    cadence = {"kind": "synchronous", "cohort": cohort, "over_selection": over}
    result, records = told(TABLE, cadence=cadence)
    whole, _ = told(TABLE)
    assert all(r["invited"] == r["accepted"] == CLIENTS for r in rounds(records))
    assert result.event_digest == whole.event_digest
    assert result.model_digest == whole.model_digest


def test_over_selection_sends_the_slowest_home() -> None:
    result, records = told(
        TABLE,
        latency={"kind": "test-delays", "work": [6.0, 1.0, 5.0, 2.0, 4.0, 3.0]},
        cadence={"kind": "synchronous", "cohort": 3, "over_selection": 2.0},
    )
    assert [(r["invited"], r["arrived"], r["late"]) for r in rounds(records)] == [
        (6.0, 3.0, 3.0)
    ] * 3
    assert result.time == 9.0


def test_all_who_answer_at_the_closing_instant_count() -> None:
    """Ties are not broken by id: with equal delays the lowest ids would always be chosen."""
    _, records = told(
        TABLE,
        latency={"kind": "test-delays", "work": [1.0, 2.0, 2.0, 2.0, 9.0, 9.0]},
        cadence={"kind": "synchronous", "cohort": 2, "over_selection": 3.0},
    )
    assert [(r["arrived"], r["late"]) for r in rounds(records)] == [(4.0, 2.0)] * 3


@pytest.mark.parametrize(
    ("deadline", "arrived"), [(0.9, 0), (1.0, 1), (2.0, 4), (2.5, 4), (9.0, 6)]
)
def test_who_answers_at_the_instant_of_the_deadline_is_in_time(
    deadline: float, arrived: int
) -> None:
    result, _records = told(
        TABLE,
        latency={"kind": "test-delays", "work": [1.0, 2.0, 2.0, 2.0, 9.0, 9.0]},
        cadence={"kind": "synchronous", "deadline": deadline},
        horizon={"rounds": 1},
    )
    assert result.counts["arrived"] == arrived
    assert result.counts["late"] == CLIENTS - arrived
    assert result.time == (deadline if arrived else deadline + 1.0)


def test_drop_outs_shrink_what_the_server_waits_for() -> None:
    leaves = [[0.0, 0.5], [0.0, 0.5]]
    result, _records = told(
        TABLE,
        participation={"kind": "test-sessions", "on": leaves},
        latency={"kind": "test-delays", "work": [1.0, 1.0, 1.0, 2.0, 3.0, 4.0]},
        cadence={"kind": "synchronous", "cohort": 5, "over_selection": 1.2},
        horizon={"rounds": 1},
    )
    assert (result.counts["arrived"], result.counts["dropped"], result.time) == (4, 2, 4.0)


CARRY: dict[str, Any] = {
    **TABLE,
    "task": {"kind": "test-quadratic", "clients": 2},
    "algorithm": {"kind": "test-two-phase"},
    "latency": {"kind": "constant", "per_sample": 0.1},  # 1 s and 4 s
    "evaluate_every": 1,
}


def test_a_client_that_misses_a_phase_runs_it_at_its_next_visit() -> None:
    """Client 0 leaves as the first phase ends and is back for the second round."""
    result, records = told(
        CARRY,
        participation={"kind": "test-sessions", "on": [[0.0, 1.0, 5.0, 1e9]]},
        horizon={"rounds": 2},
    )
    first, second = rounds(records)
    assert (first["missed"], first["arrived"]) == (1.0, 3.0)
    # Client 1 alone begins the round anew; both run its second phase.
    assert (second["invited"], second["arrived"], second["missed"]) == (2.0, 3.0, 0.0)
    assert result.metrics["visits"] == 3.0


def test_clients_that_carry_a_phase_run_it_though_nobody_begins() -> None:
    both = [[0.0, 1.0, 20.0, 1e9]] * 2
    result, records = told(
        CARRY, participation={"kind": "test-sessions", "on": both}, horizon={"rounds": 3}
    )
    first, second, third = rounds(records)
    assert (first["missed"], first["skipped"]) == (2.0, 1.0)
    assert (second["arrived"], second["skipped"]) == (2.0, 0.0)
    assert (third["arrived"], third["skipped"]) == (4.0, 0.0)
    assert result.metrics["visits"] == 4.0
    assert [r.time for r in records if r.kind == "round"] == [2.0, 24.0, 29.0]


def test_a_phase_that_is_not_carried_is_dropped() -> None:
    _result, records = told(
        {
            **CARRY,
            "task": {
                "kind": "pca",
                "rank": 1,
                "data": {"kind": "gaussian_blocks", "clients": 2, "samples": 10, "dimension": 4},
            },
            "algorithm": {"kind": "rfedsvrg", "steps": 2},
            "latency": {"kind": "constant", "overhead": 1.0},
        },
        participation={"kind": "test-sessions", "on": [[0.0, 1.0, 2.0, 1e9]]},
        horizon={"rounds": 2},
    )
    assert [(r["missed"], r["arrived"]) for r in rounds(records)] == [(1.0, 3.0), (0.0, 4.0)]

"""Clients that never answer or never come: every run ends, at once, with the outcome named."""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Floats, Ints
from driftfold.errors import NeverAnswers, RunError
from driftfold.participation.base import Participation
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.world import story
from tests.world.scripted import CLIENTS, TABLE, SessionTable, model_after, rounds, told

SILENT = {"kind": "test-delays", "never": [1]}
OTHERS = [0, 2, 3, 4, 5]


def test_waiting_for_ever_is_refused_at_once() -> None:
    with pytest.raises(NeverAnswers, match="give the cadence a deadline"):
        run(from_mapping({**TABLE, "latency": SILENT}))


def test_a_deadline_closes_the_round() -> None:
    deadline = {"kind": "synchronous", "deadline": 5.0}
    result, records = told(TABLE, latency=SILENT, cadence=deadline)
    assert (result.ended, result.time) == ("rounds", 15.0)
    assert [(r["arrived"], r["late"]) for r in rounds(records)] == [(5.0, 1.0)] * 3
    np.testing.assert_allclose(result.model, model_after([OTHERS] * 3), rtol=0, atol=1e-14)


def test_a_quorum_closes_the_round_though_one_is_dead() -> None:
    quorum = {"kind": "synchronous", "cohort": 5, "over_selection": 1.2}
    result, _ = told(TABLE, latency=SILENT, cadence=quorum)
    assert (result.ended, result.time, result.counts["late"]) == ("rounds", 3.0, 3)


def test_a_horizon_in_seconds_ends_the_wait() -> None:
    result, _ = told(TABLE, latency=SILENT, horizon={"seconds": 7.5})
    assert (result.ended, result.time, result.rounds) == ("seconds", 7.5, 0)


def test_when_none_is_in_time_rounds_are_skipped() -> None:
    result, records = told(
        TABLE,
        latency={"kind": "test-delays", "never": list(range(CLIENTS))},
        cadence={"kind": "synchronous", "deadline": 5.0, "pause": 2.0},
    )
    assert [(r["late"], r["skipped"]) for r in rounds(records)] == [(6.0, 1.0)] * 3
    assert result.time == 3 * (5.0 + 2.0)
    np.testing.assert_array_equal(result.model, model_after([]))


def test_everybody_away_for_a_while_costs_virtual_time_only() -> None:
    away = [[0.0, 1.5, 1e9, 2e9]] * CLIENTS
    latency = {"kind": "test-delays"}
    result, records = told(
        TABLE, participation={"kind": "test-sessions", "on": away}, latency=latency
    )
    assert result.ended == "rounds"
    times = [r.time for r in records if r.kind == "round"]
    # The second round begins at 1, its clients leave at 1.5; it is skipped by a pause of 1 s.
    assert times == [1.0, 2.5, 1e9 + 1.0]


@pytest.mark.parametrize("on", [[0.0, 2.5], []], ids=["after a while", "from the start"])
def test_nobody_left(on: list[float]) -> None:
    result, _ = told(
        TABLE,
        participation={"kind": "test-sessions", "on": [on] * CLIENTS},
        latency={"kind": "test-delays"},
        horizon={"rounds": 1000},
    )
    assert result.ended == "nobody left"
    assert result.counts["accepted"] == (2 * CLIENTS if on else 0)
    assert result.time == (3.5 if on else 0.0)


class Contradicting(SessionTable):
    """Says that clients come on now, and that nobody is there."""

    def next_on(self, clients: Ints, t: float) -> Floats:
        return np.full(len(clients), t)


def test_a_model_that_contradicts_itself_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.world.scripted import Sessions

    def attend(self: Participation, fleet: Any) -> Contradicting:
        return Contradicting([[]] * fleet.size, fleet.size)

    monkeypatch.setattr(Sessions, "attend", attend)
    with pytest.raises(RunError, match="next_on must agree with available"):
        run(from_mapping({**TABLE, "participation": {"kind": "test-sessions"}}))


def test_everybody_declining_passes_virtual_time() -> None:
    result, _ = told(
        TABLE, participation={"kind": "bernoulli", "p": 1e-12}, horizon={"seconds": 20.0}
    )
    assert (result.ended, result.time, result.counts["skipped"]) == ("seconds", 20.0, 19)
    assert result.counts["declined"] == result.counts["invited"] == 20 * CLIENTS


def test_rounds_without_time_never_reach_a_horizon_in_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(story, "STANDSTILL", 50)
    with pytest.raises(RunError, match="50 rounds took no virtual time"):
        run(from_mapping({**TABLE, "horizon": {"seconds": 10.0}}))
    result, _ = told(TABLE, horizon={"seconds": 10.0, "rounds": 80})
    assert (result.ended, result.time) == ("rounds", 0.0)

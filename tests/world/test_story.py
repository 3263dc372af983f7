"""A run from begin to end: horizons, evaluations, what the records hold, decisions."""

from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from driftfold.compute.order import Order
from driftfold.kernel import now
from driftfold.registry import register
from driftfold.telemetry.base import Record
from driftfold.world.cadence import Cadence
from driftfold.world.cadences import Synchronous
from driftfold.world.server import Server
from driftfold.world.tally import OUTCOMES
from tests.world.scripted import CLIENTS, TABLE, rounds, told

WORK = {"kind": "test-delays", "work": [1.0, 2.0, 3.0], "download": 0.5, "upload": 0.25}
TAKES = 3.75  # of the slowest


@pytest.mark.parametrize(
    ("seconds", "ended", "version"),
    [(0.1, "seconds", 0), (TAKES, "seconds", 0), (2 * TAKES, "seconds", 1), (8.0, "seconds", 2),
     (1e9, "rounds", 3)],
)  # fmt: skip
def test_horizons(seconds: float, ended: str, version: int) -> None:
    """At exactly that time: what happens at the very instant of the end comes too late."""
    result, _ = told(TABLE, latency=WORK, horizon={"rounds": 3, "seconds": seconds})
    assert (result.ended, result.rounds) == (ended, version)
    assert result.time == (seconds if ended == "seconds" else 3 * TAKES)


def test_what_the_end_interrupts_has_no_outcome() -> None:
    """Answers that no step used, and clients on the way, count as invited only."""
    result, _ = told(TABLE, latency=WORK, horizon={"seconds": TAKES + 1.8})
    assert result.rounds == 1
    assert result.counts["invited"] == 2 * CLIENTS
    assert (result.counts["arrived"], result.counts["late"]) == (CLIENTS, 0)


def kinds_of(records: list[Record]) -> list[tuple[str, int]]:
    return [(r.kind, r.version) for r in records]


def test_evaluations_come_after_their_rounds_and_at_both_ends() -> None:
    _, records = told(TABLE, evaluate_every=2, horizon={"rounds": 5})
    assert kinds_of(records) == [
        ("evaluation", 0), ("round", 1), ("round", 2), ("evaluation", 2), ("round", 3),
        ("round", 4), ("evaluation", 4), ("round", 5), ("evaluation", 5),
    ]  # fmt: skip
    assert [r.seq for r in records] == list(range(1, 10))
    _, records = told(TABLE, evaluate_every=5, horizon={"rounds": 5})
    assert kinds_of(records)[-2:] == [("round", 5), ("evaluation", 5)]


@pytest.mark.parametrize("every", [1, 2, 100])
def test_evaluations_are_no_events(every: int) -> None:
    result, _ = told(TABLE, latency=WORK, evaluate_every=every)
    assert result.events == 3 * CLIENTS * 3, "download, work and upload of each visit"


def test_the_final_metrics_are_those_of_the_final_model() -> None:
    often, _ = told(TABLE, evaluate_every=1)
    never, _ = told(TABLE, evaluate_every=1000)
    assert never.metrics == often.metrics


def test_what_a_round_tells() -> None:
    result, records = told(TABLE, latency=WORK)
    for number, record in enumerate([r for r in records if r.kind == "round"], 1):
        assert (record.time, record.version) == (number * TAKES, number)
        assert set(OUTCOMES) <= set(record.values)
        assert record.values["weight_sum"] == pytest.approx(1.0, abs=1e-15)
        assert record.values["effective_size"] == pytest.approx(CLIENTS, rel=1e-14)
        assert set(record.timing) == {"wall", "cpu"}
    point = 3 * 8  # a point of three numbers in float64
    assert result.counts["bytes_down"] == 3 * CLIENTS * (point + 8), "and one step size"
    assert result.counts["bytes_up"] == 3 * CLIENTS * point


@settings(max_examples=40, deadline=None)
@given(
    work=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.0]), min_size=CLIENTS, max_size=CLIENTS),
    sessions=st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 8.0, 9.0]), unique=True, max_size=4).map(
            lambda times: tuple(sorted(times)[: len(times) // 2 * 2])
        ),
        max_size=CLIENTS - 1,
    ),
    cohort=st.sampled_from([None, 1, 3]),
    over=st.sampled_from([1.0, 2.0]),
    deadline=st.sampled_from([None, 0.5, 1.0, 5.0]),
    faulty=st.sampled_from(["raises", "nan", "none"]),
    policy=st.sampled_from(["lose", "suspend"]),
)
def test_every_invitation_has_one_outcome(
    work: list[float],
    sessions: list[Any],
    cohort: Any,
    over: float,
    deadline: Any,
    faulty: str,
    policy: str,
) -> None:
    """Whatever happens: invited = declined + arrived + late + dropped, round by round."""
    algorithm = {"kind": "test-scripted", **({faulty: [1, 4]} if faulty != "none" else {})}
    result, records = told(
        TABLE,
        algorithm=algorithm,
        latency={"kind": "test-delays", "work": work, "download": 0.5},
        participation={"kind": "test-sessions", "on": sessions},
        cadence={
            "kind": "synchronous", "cohort": cohort, "over_selection": over, "deadline": deadline,
        },
        faults={"on_interrupt": policy},
        horizon={"rounds": 6},
    )  # fmt: skip
    assert result.ended == "rounds"
    for r in rounds(records):
        assert r["invited"] == r["declined"] + r["arrived"] + r["late"] + r["dropped"]
        assert r["arrived"] == r["accepted"] + r["rejected"] + r["failed"]
        assert r["skipped"] == (0.0 if r["accepted"] else 1.0)
        assert r["bytes_up"] == (r["arrived"] - r["missed"]) * 3 * 8
    for name in OUTCOMES:
        assert result.counts[name] == sum(r[name] for r in rounds(records))
    assert np.isfinite(result.model).all()


ASKED: list[tuple[int, Any]] = []


@register("test-asking")
@dataclass(frozen=True)
class Asking(Cadence):
    """Asks after each round how far the first answer was, and remembers what it was told."""

    def chooses(self) -> str | None:
        return None

    async def advance(self, server: Server) -> None:
        await Synchronous().advance(server)
        sent = server.aggregator.broadcast(0, 0)
        order = Order(0, 1000 + server.version, 0, sent, now(), now())
        tickets = [server.tickets.submit(order, c) for c in (0, 1)]
        answer = await server.decide(
            "how far", lambda results: float(results.payload.point[0, 0]), tickets
        )
        for ticket in tickets:
            server.tickets.cancel(ticket)
        ASKED.append((server.version, answer))
        assert server.decisions[-1] == ["how far", answer]
        assert server.decided == len(server.decisions) == server.version


def test_decisions_are_logged_in_order() -> None:
    ASKED.clear()
    told(TABLE, cadence={"kind": "test-asking"})
    assert [version for version, _ in ASKED] == [1, 2, 3]
    assert all(isinstance(answer, float) for _, answer in ASKED)

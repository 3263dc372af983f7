"""A client drops out in mid-visit and comes back: its update is lost, suspended or cut short.

Worked out on paper: client 0 downloads for 1 s, does three steps of 1 s each and uploads for
0.5 s; client 1 is there always and answers at 2.5 s. What is tested is client 0's sessions.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Array
from driftfold.assembly import build
from driftfold.errors import NeverAnswers, RunError
from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import from_mapping
from tests.world.scripted import SessionTable, rounds, told

ALPHA, STEPS = 0.25, 3
TWO: dict[str, Any] = {
    "task": {"kind": "test-quadratic", "clients": 2, "noise": 0.0},
    "algorithm": {"kind": "fedavg", "steps": STEPS, "step_size": ALPHA},
    "latency": {"kind": "test-delays", "work": [3.0, 1.0], "download": 1.0, "upload": 0.5},
    "horizon": {"rounds": 1},
    "evaluate_every": 1,
}


def visit(policy: str, *on: float, **changes: Any) -> Result:
    """One round in which client 0 has the sessions [on[0], on[1]), [on[2], on[3]), ..."""
    participation = {"kind": "test-sessions", "on": [list(on)]}
    changes = {"participation": participation, "faults": {"on_interrupt": policy}, **changes}
    result, _ = told(TWO, **changes)
    return result


def model_of(*steps: float) -> Array:
    """The mean of the ways of these clients after so many steps, each counted as its mean step."""
    problem: Any = build(from_mapping(TWO)).problem
    ways = [
        (1 - (1 - ALPHA) ** k) * STEPS / k * centre
        for centre, k in zip(problem.centres, steps, strict=True)
        if k
    ]
    mean: Array = np.mean(ways, axis=0)
    return mean


def counted(result: Result) -> dict[str, int]:
    names = ("arrived", "dropped", "suspended", "partial")
    return {name: result.counts[name] for name in names if result.counts[name]}


@pytest.mark.parametrize(
    ("on", "closes"),
    [
        ([0.0, 0.5, 10.0, 20.0], 2.5),  # in its download; client 1 answers last
        ([0.0, 3.0, 10.0, 20.0], 3.0),  # in its work
        ([0.0, 4.2, 10.0, 20.0], 4.2),  # in its upload
    ],
)
def test_lost_when_the_session_ends(on: list[float], closes: float) -> None:
    result = visit("lose", *on)
    assert result.time == closes
    assert counted(result) == {"arrived": 1, "dropped": 1}
    np.testing.assert_allclose(result.model, model_of(0, STEPS), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("on", "answers"),
    [
        ([0.0, 0.5, 2.0, 20.0], 6.0),  # the rest of the download from 2 to 2.5, work to 5.5
        ([0.0, 3.0, 10.0, 20.0], 11.5),  # two steps are done; one from 10 to 11, upload
        ([0.0, 3.0, 10.0, 10.5, 20.0, 30.0], 21.0),  # two gaps: work to 20.5
        ([0.0, 4.2, 9.0, 20.0], 9.3),  # 0.2 s of the upload are done
        ([0.0, 4.0, 9.0, 20.0], 9.5),  # the work ends with the session, and counts
        ([0.0, 1.0, 9.0, 20.0], 12.5),  # so does the download
        ([0.0, 3.0, 3.0, 20.0], 4.5),  # a gap of no length
        ([0.0, 3.0, 10.0, 11.5], 11.5),  # the visit ends with the second session, and counts
    ],
)
def test_suspended_until_the_client_is_back(on: list[float], answers: float) -> None:
    result = visit("suspend", *on)
    assert result.time == answers
    assert counted(result) == {"arrived": 2, "suspended": 1}
    np.testing.assert_allclose(result.model, model_of(STEPS, STEPS), rtol=0, atol=1e-14)


def test_a_visit_that_ends_with_its_session_is_not_suspended() -> None:
    result = visit("suspend", 0.0, 4.5, 9.0, 20.0)
    assert (result.time, counted(result)) == (4.5, {"arrived": 2})


@pytest.mark.parametrize(
    ("on", "lost", "suspended"),
    [([0.0, 3.0], 3.0, 0), ([0.0, 3.0, 10.0, 10.5], 10.5, 1), ([0.0, 0.5], 2.5, 0)],
)
def test_suspended_and_never_back_is_lost(on: list[float], lost: float, suspended: int) -> None:
    result = visit("suspend", *on)
    assert (result.time, result.counts["dropped"], result.counts["suspended"]) == (
        lost, 1, suspended,
    )  # fmt: skip
    np.testing.assert_allclose(result.model, model_of(0, STEPS), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("ends", "steps", "closes"),
    [
        (0.5, 0, 2.5),  # nothing is done; client 1 answers last
        (1.9, 0, 2.5),
        (2.0, 1, 2.5),  # the first step ends with the session, and counts
        (3.5, 2, 4.0),
        (np.nextafter(4.0, 0.0), 3, 4.5),  # to rounding
        (4.2, 3, 4.5),  # in its upload, which goes on
    ],
)
@pytest.mark.parametrize("later", [(), (9.0, 20.0)], ids=["leaves", "two sessions"])
def test_what_is_done_is_sent_at_once(
    ends: float, steps: int, closes: float, later: tuple[float, ...]
) -> None:
    result = visit("partial", 0.0, ends, *later)
    assert result.time == closes
    outcome = {0: {"arrived": 1, "dropped": 1}, STEPS: {"arrived": 2}}
    assert counted(result) == outcome.get(steps, {"arrived": 2, "partial": 1})
    np.testing.assert_allclose(result.model, model_of(steps, STEPS), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("policy", "time", "model"),
    [("lose", 3.0, (0, 3)), ("suspend", 11.5, (3, 3)), ("partial", 3.5, (2, 3))],
)
def test_sessions_of_a_trace(
    policy: str, time: float, model: tuple[float, float], tmp_path: Path
) -> None:
    path = tmp_path / "sessions.csv"
    path.write_text("client,start,end\n0,0,3\n0,10,20\n1,0,1000\n")
    trace = {"kind": "trace", "path": str(path), "assignment": "by_client"}
    result = visit(policy, participation=trace)
    assert result.time == time
    np.testing.assert_allclose(result.model, model_of(*model), rtol=0, atol=1e-14)
    assert "interrupted" in result.conventions


@pytest.mark.parametrize("policy", ["suspend", "partial"])
def test_the_server_may_send_it_home_all_the_same(policy: str) -> None:
    """A deadline in the gap, or in the upload of what was done."""
    deadline = {"kind": "synchronous", "deadline": 3.2}
    result = visit(policy, 0.0, 3.0, 10.0, 20.0, cadence=deadline)
    assert (result.time, result.counts["late"], result.counts["arrived"]) == (3.2, 1, 1)
    np.testing.assert_allclose(result.model, model_of(0, STEPS), rtol=0, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(
    gaps=st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), min_size=1, max_size=6),
    delays=st.tuples(*[st.integers(0, 9)] * 3),
)
def test_a_suspended_visit_takes_its_time_in_sessions(
    gaps: list[tuple[int, int]], delays: tuple[int, int, int]
) -> None:
    """Against the interval at whose end that much of sessions has passed; times in halves."""
    on, time = [], 0.0
    for length, gap in gaps:
        on += [time, time + length / 2]
        time += (length + gap) / 2
    download, work, upload = (d / 2 for d in delays)
    left, ends = sum(delays) / 2, None
    for start, end in zip(on[::2], on[1::2], strict=True):
        if left <= end - start:
            ends = start + left
            break
        left -= end - start
    latency = {"kind": "test-delays", "work": [work], "download": download, "upload": upload}
    task = {**TWO["task"], "clients": 1}
    result = visit("suspend", *on, latency=latency, task=task)
    if ends is None:
        assert (result.counts["dropped"], result.counts["arrived"]) == (1, 0)
    else:
        assert (result.time, result.counts["arrived"]) == (ends, 1)


def test_whoever_is_interrupted_more_counts_no_less() -> None:
    """Client 0 does one of five steps in every round, and the optimum is still the mean."""
    on = [[t for j in range(150) for t in (10.0 * j, 10.0 * j + length)] for length in (1.0, 5.0)]
    table: dict[str, Any] = {
        **TWO,
        "algorithm": {"kind": "fedavg", "steps": 5, "step_size": 0.01},
        "latency": {"kind": "test-delays", "work": [5.0, 5.0]},
        "participation": {"kind": "test-sessions", "on": on},
        "faults": {"on_interrupt": "partial"},
        "horizon": {"rounds": 150},
        "evaluate_every": 150,
    }
    centres = build(from_mapping(table)).problem.centres  # type: ignore[attr-defined]
    result, records = told(table)
    assert [r["partial"] for r in rounds(records)] == [1.0] * 150
    apart = np.linalg.norm(centres[0] - centres[1])
    # 0.05 against 1 - 0.99^5 = 0.049: a hundredth. By what was sent alone it would be a third.
    assert np.linalg.norm(result.model - centres.mean(axis=0)) < 0.01 * apart


EIGHT: dict[str, Any] = {  # steps of a second, and sessions that end in each of them
    "task": {
        "kind": "pca", "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 8, "samples": 6, "dimension": 4},
    },
    "latency": {"kind": "test-delays", "work": [4.0] * 8},
    "participation": {"kind": "test-sessions", "on": [[0.0, 0.5 + i] for i in range(6)]},
    "faults": {"on_interrupt": "partial"},
    "horizon": {"rounds": 1},
}  # fmt: skip


@pytest.mark.parametrize("kind", ["rfedags", "rfedavg", "rfedprox", "rfedsvrg"])
def test_parts_of_unequal_length_are_the_same_in_any_stack(kind: str) -> None:
    table = {**EIGHT, "algorithm": {"kind": kind, "steps": 4, "batch": 2, "step_size": 0.1}}
    if kind == "rfedsvrg":  # two phases, and the first is whole or nothing
        table["participation"] = {"kind": "test-sessions", "on": [[0.0, 4.5 + i] for i in range(4)]}
    whole = run(from_mapping(table))
    assert whole.counts["partial"] == 3
    for engine in ({"kind": "stacked", "tile": 1}, {"kind": "stacked", "tile": 3}):
        assert run(from_mapping({**table, "compute": engine})).model_digest == whole.model_digest
    alone = run(from_mapping({**table, "compute": {"kind": "debug"}}))
    assert alone.event_digest == whole.event_digest
    np.testing.assert_allclose(alone.model, whole.model, rtol=0, atol=1e-13)


def test_flapping_and_never_done_is_told_at_once() -> None:
    """Suspended again and again, in work without an end: no wall time is spent on it."""
    flaps = [float(t) for t in range(2000)]
    with pytest.raises(NeverAnswers, match="give the cadence a deadline"):
        visit("suspend", *flaps, latency={"kind": "test-delays", "never": [0]})


def test_sessions_without_an_end_after_their_beginning_end_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = SessionTable.next_on

    def next_on(self: Any, clients: Any, t: float) -> Any:
        return np.full(len(clients), t) if t == 3.0 else honest(self, clients, t)

    monkeypatch.setattr(SessionTable, "next_on", next_on)
    with pytest.raises(
        RunError, match=r"client 0 comes on at 3\.0 s for a session that ends at 3.0"
    ):
        visit("suspend", 0.0, 3.0, 10.0, 20.0)

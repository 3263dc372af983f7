"""Tickets: computed when needed, for all at once, and never when not needed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import FedAvg
from driftfold.algorithms.base import LocalResult
from driftfold.compute.base import Engine, Stack
from driftfold.compute.ticket import NOT_FINITE, Ticket
from driftfold.errors import ReplayMismatch, RunError, SpecError
from driftfold.trees import leaves
from tests.compute.books import DRILL, SURVEY, Desk, alone, open_desk
from tests.world.scripted import Faulty


def same(a: Any, b: Any) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(leaves(a), leaves(b), strict=True))


def fresh(desk: Desk) -> Any:
    return desk.algorithm.memory(desk.problem)


def memory_of(desk: Desk, client: int) -> Any:
    memories = desk.book.memories
    assert memories is not None
    return [leaf[0] for leaf in leaves(memories.read(np.array([client])))]


def submit(desk: Desk, phase: int, *clients: int, dispatch: int = 0) -> list[Ticket]:
    order = desk.order(phase, dispatch)
    return [desk.book.submit(order, c) for c in clients]


def test_nothing_is_computed_before_it_is_needed() -> None:
    desk = open_desk()
    tickets = submit(desk, DRILL, 5, 0, 3)
    assert not desk.engine.stacks
    assert not any(t.computed for t in tickets)
    results = desk.book.results(tickets[:1])
    assert desk.engine.stacks == [("drill", 4, [0, 3, 5])], "one stack, ascending, for everybody"
    assert (results.good, results.faults, results.failures) == ([0], {}, {})
    desk.book.results(tickets)
    assert len(desk.engine.stacks) == 1
    assert (desk.book.stacks, desk.book.stacked) == (1, 3)


def test_doomed_work_is_done_only_when_it_is_asked_for() -> None:
    desk = open_desk(FedAvg(steps=2))
    (first,) = submit(desk, 0, 5)
    doomed = desk.book.submit(first.order, 3, doomed=True)
    desk.book.results([first])
    assert [clients for *_, clients in desk.engine.stacks] == [[5]]
    assert not doomed.computed
    results = desk.book.results([doomed, first])
    assert [clients for *_, clients in desk.engine.stacks] == [[5], [3]]
    by_hand = alone(desk, 0, 3, 0, 2, None)
    np.testing.assert_allclose(results.payload.point[0], by_hand.payload.point, atol=1e-14)
    desk.book.cancel(desk.book.submit(first.order, 2, doomed=True))
    desk.book.flush()
    assert len(desk.engine.stacks) == 2


def test_doomed_work_of_clients_that_remember_keeps_its_place() -> None:
    desk = open_desk()
    desk.book.submit(desk.order(DRILL), 5, doomed=True)
    desk.book.flush()
    assert desk.engine.stacks == [("drill", 4, [5])]


def test_results_are_those_of_each_client_alone_in_ticket_order() -> None:
    desk = open_desk()
    tickets = submit(desk, DRILL, 5, 0, 3)
    results = desk.book.results(tickets)
    for row, client in enumerate((5, 0, 3)):
        by_hand = alone(desk, DRILL, client, 0, 4, fresh(desk))
        # One client's sums may be rounded in another order than a stack's.
        np.testing.assert_allclose(results.payload.point[row], by_hand.payload.point, atol=1e-14)
        assert results.metrics["visits"][row] == 1


def test_results_of_several_stacks_are_put_together() -> None:
    desk = open_desk()
    first = submit(desk, DRILL, 6, 1)
    desk.book.results(first)
    second = submit(desk, DRILL, 2, 7)
    mixed = [second[0], first[1], second[1], first[0]]
    results = desk.book.results(mixed)
    for row, ticket in enumerate(mixed):
        by_hand = alone(desk, DRILL, ticket.client, 0, 4, fresh(desk))
        np.testing.assert_allclose(results.payload.point[row], by_hand.payload.point, atol=1e-14)


def test_a_clients_chain_never_shares_a_stack() -> None:
    """Its memory goes from one visit to the next, though both are computed in one go."""
    desk = open_desk()
    chain = []
    for dispatch in range(3):
        tickets = submit(desk, DRILL, 2, 4 + dispatch, dispatch=dispatch)
        desk.book.commit(tickets[0])
        desk.book.commit(tickets[1])
        chain.append(tickets[0])
    assert not desk.engine.stacks
    desk.book.results(chain[2:])
    assert desk.engine.stacks == [("drill", 4, [2, 4, 5, 6]), ("drill", 4, [2]), ("drill", 4, [2])]
    memory = fresh(desk)
    for dispatch in range(3):
        memory = alone(desk, DRILL, 2, dispatch, 4, memory).memory
    np.testing.assert_allclose(memory_of(desk, 2)[0], memory.momentum, atol=1e-14)
    assert memory_of(desk, 2)[1] == 3


def test_phases_and_numbers_of_steps_have_stacks_of_their_own() -> None:
    desk = open_desk()
    submit(desk, SURVEY, 1, 2)
    drills = submit(desk, DRILL, 3, 4, 5)
    desk.book.truncate(drills[1], 2)
    desk.book.flush()
    assert sorted(desk.engine.stacks) == [
        ("drill", 2, [4]), ("drill", 4, [3, 5]), ("survey", 1, [1, 2]),
    ]  # fmt: skip


@pytest.mark.parametrize("computed", [False, True])
def test_memory_commits_when_the_payload_arrives(computed: bool) -> None:
    desk = open_desk()
    (ticket,) = submit(desk, DRILL, 3)
    if computed:
        desk.book.flush()
        assert memory_of(desk, 3)[1] == 0, "in flight: as it was before"
    desk.book.commit(ticket)
    desk.book.flush()
    assert memory_of(desk, 3)[1] == 1


@pytest.mark.parametrize("computed", [False, True])
def test_cancelled_work(computed: bool) -> None:
    desk = open_desk()
    kept, cancelled = submit(desk, DRILL, 1, 2)
    if computed:
        desk.book.flush()
    desk.book.cancel(cancelled)
    desk.book.commit(kept)
    desk.book.results([kept])
    clients = [1, 2] if computed else [1]
    assert desk.engine.stacks == [("drill", 4, clients)], "not computed if it was not yet"
    desk.book.flush()
    assert len(desk.engine.stacks) == 1
    memories = desk.book.memories
    assert memories is not None
    assert leaves(memories.read(np.array([2])))[1].tolist() == [0], "and nothing is remembered"


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("steps", [1, 3, 4])
def test_truncated_work_is_what_a_shorter_run_gives(computed: bool, steps: int) -> None:
    desk = open_desk()
    ticket, other = submit(desk, DRILL, 1, 2)
    if computed:
        desk.book.flush()
    desk.book.truncate(ticket, steps)
    desk.book.commit(ticket)
    result = desk.book.results([ticket, other])
    by_hand = alone(desk, DRILL, 1, 0, steps, fresh(desk))
    np.testing.assert_allclose(result.payload.point[0], by_hand.payload.point, atol=1e-14)
    np.testing.assert_allclose(memory_of(desk, 1)[0], by_hand.memory.momentum, atol=1e-14)
    whole = alone(desk, DRILL, 2, 0, 4, fresh(desk))
    np.testing.assert_allclose(result.payload.point[1], whole.payload.point, atol=1e-14)
    shorter = open_desk()
    (again,) = submit(shorter, DRILL, 1)
    shorter.book.truncate(again, steps)
    assert same(shorter.book.results([again]).payload.point, result.payload.point[:1])


@pytest.mark.parametrize("steps", [0, -1, 5])
def test_truncation_has_bounds(steps: int) -> None:
    desk = open_desk()
    (ticket,) = submit(desk, DRILL, 1)
    with pytest.raises(ValueError, match="cannot truncate"):
        desk.book.truncate(ticket, steps)
    desk.book.commit(ticket)
    with pytest.raises(ValueError, match="has arrived"):
        desk.book.truncate(ticket, 2)


def test_what_a_drop_out_learnt_can_be_kept() -> None:
    desk = open_desk()
    (left,) = submit(desk, DRILL, 1)
    desk.book.keep_memory(left, 2)
    assert not desk.book.live
    (back,) = submit(desk, DRILL, 1, dispatch=5)
    desk.book.results([back])
    assert desk.engine.stacks == [("drill", 2, [1]), ("drill", 4, [1])]
    before = alone(desk, DRILL, 1, 0, 2, fresh(desk)).memory
    after = alone(desk, DRILL, 1, 5, 4, before)
    np.testing.assert_allclose(
        desk.book.results([back]).payload.point[0], after.payload.point, atol=1e-14
    )


def faulty(**how: Any) -> Desk:
    return open_desk(Faulty(**how))


def test_an_error_is_the_guilty_ones_alone() -> None:
    desk = faulty(raises=(2, 5), nan=(3,), infinite=(6,))
    results = desk.book.results(submit(desk, 0, *range(8)))
    assert results.good == [0, 1, 4, 7]
    assert results.failures == dict.fromkeys((2, 5), "LookupError: no such sample")
    assert results.faults == dict.fromkeys((3, 6), NOT_FINITE)
    honest = open_desk(Faulty())
    expected = honest.book.results(submit(honest, 0, *range(8)))
    assert same(results.payload.point, expected.payload.point[[0, 1, 4, 7]]), "bit for bit"
    desk.book.results(list(desk.book.live.values()))
    assert len(desk.engine.stacks) == 1 + 8, "a fault is a result: nothing is done twice"


def test_a_fault_leaves_the_memory_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.world.toys import Drill

    honest = Drill.local

    def local(self: Any, download: Any, view: Any, memory: Any, steps: int) -> Any:
        result = honest(self, download, view, memory, steps)
        result.memory.momentum[np.atleast_1d(view.clients) == 2] = np.nan
        return result

    monkeypatch.setattr(Drill, "local", local)
    desk = open_desk()
    tickets = submit(desk, DRILL, 1, 2)
    for ticket in tickets:
        desk.book.commit(ticket)
    results = desk.book.results(tickets)
    assert results.faults == {1: NOT_FINITE}
    assert memory_of(desk, 1)[1] == 1
    assert memory_of(desk, 2)[1] == 0


def test_a_strict_engine_hides_nothing() -> None:
    desk = faulty(raises=(2,))
    desk.engine.strict = True
    with pytest.raises(LookupError):
        desk.book.results(submit(desk, 0, 1, 2))


@dataclass
class Cramped(Engine):
    """An engine with memory for a few clients at a time."""

    inner: Engine
    room: int

    def run(self, stack: Stack) -> LocalResult[Any]:
        if len(stack.clients) > self.room:
            raise MemoryError("no room")
        return self.inner.run(stack)


def test_want_of_memory_is_no_clients_failure() -> None:
    """Or the result of a run would depend on where it runs."""
    desk, roomy = open_desk(), open_desk()
    desk.engine.inner = Cramped(desk.engine.inner, room=1)
    results = desk.book.results(submit(desk, 0, 0, 1, 2))
    expected = roomy.book.results(submit(roomy, 0, 0, 1, 2))
    assert same(results.payload, expected.payload)
    desk.engine.inner = Cramped(desk.engine.inner, room=0)
    with pytest.raises(MemoryError):
        desk.book.results(submit(desk, 0, 0, 1, 2))


def busy(desk: Desk) -> list[Ticket]:
    """A bit of everything: done, promised, truncated, kept for its memory, faulty."""
    done = submit(desk, DRILL, 0, 1, 2)
    if not desk.book.asleep:
        desk.book.flush()
    desk.book.commit(done[0])
    promised = submit(desk, SURVEY, 3, 4, dispatch=1)
    short = submit(desk, DRILL, 5, 6, dispatch=2)
    desk.book.truncate(short[0], 3)
    desk.book.keep_memory(short[1], 2)
    desk.book.commit(promised[0])
    return [*done, *promised, short[0]]


def conclude(desk: Desk, tickets: list[Ticket]) -> list[Any]:
    done, promised, short = tickets[:3], tickets[3:5], tickets[5:]
    memories = desk.book.memories
    assert memories is not None
    told = [desk.book.results(group) for group in (done, promised, short)]
    return [leaves([r.payload for r in told]), leaves(memories.read(np.arange(8)))]


def test_a_snapshot_brings_everything_back() -> None:
    desk = open_desk()
    tickets = busy(desk)
    arrays: dict[str, Any] = {}
    state = desk.book.snapshot(arrays)
    assert desk.book.memories is not None
    remembered = desk.book.memories.visited()

    replayed = open_desk()
    replayed.book.asleep = True
    again = busy(replayed)
    assert not replayed.engine.stacks, "asleep: nothing is computed"
    replayed.book.asleep = False
    replayed.book.restore(state, arrays)
    assert replayed.book.memories is not None
    replayed.book.memories.restore(*remembered)

    assert [t.steps for t in again] == [t.steps for t in tickets]
    for old, new in zip(conclude(desk, tickets), conclude(replayed, again), strict=True):
        assert all(a.tobytes() == b.tobytes() for a, b in zip(old, new, strict=True))
    assert sorted(replayed.engine.stacks) == sorted(desk.engine.stacks[1:]), "what was done stays"


def test_faults_come_back_too() -> None:
    arrays: dict[str, Any] = {}
    desk = faulty(raises=(2,), nan=(3,))
    desk.book.results(submit(desk, 0, 1, 2, 3))
    state = desk.book.snapshot(arrays)
    replayed = faulty(raises=(2,), nan=(3,))
    replayed.book.asleep = True
    again = submit(replayed, 0, 1, 2, 3)
    replayed.book.asleep = False
    replayed.book.restore(state, arrays)
    results = replayed.book.results(again)
    assert (results.good, results.faults) == ([0], {2: NOT_FINITE})
    assert results.failures == {1: "LookupError: no such sample"}
    assert not replayed.engine.stacks


@pytest.mark.parametrize(
    "other",
    [
        lambda desk: submit(desk, DRILL, 0, 1),
        lambda desk: submit(desk, DRILL, 0, 1, 2, 3),
        lambda desk: [desk.book.cancel(t) for t in submit(desk, DRILL, 0, 1, 2)],
    ],
)
def test_a_replay_that_promised_other_work_is_refused(other: Callable[[Desk], Any]) -> None:
    desk, arrays = open_desk(), {}  # type: tuple[Desk, dict[str, Any]]
    submit(desk, DRILL, 0, 1, 2)
    state = desk.book.snapshot(arrays)
    replayed = open_desk()
    other(replayed)
    with pytest.raises(ReplayMismatch, match="replay promised"):
        replayed.book.restore(state, arrays)


def test_results_are_not_to_be_had_in_a_replay() -> None:
    desk = open_desk()
    tickets = submit(desk, DRILL, 1)
    desk.book.asleep = True
    with pytest.raises(RuntimeError, match="while events are replayed"):
        desk.book.results(tickets)


def test_released_tickets_are_forgotten() -> None:
    desk = open_desk()
    tickets = submit(desk, DRILL, 1, 2)
    desk.book.release(tickets)
    desk.book.flush()
    assert not desk.book.live
    assert not desk.engine.stacks


class Broken(Engine):
    def run(self, stack: Stack) -> LocalResult[Any]:
        raise RunError("out of order")


def test_an_engine_that_fails_for_all() -> None:
    desk = open_desk()
    desk.engine.inner = Broken()
    results = desk.book.results(submit(desk, DRILL, 1, 2, 3))
    assert (results.good, results.payload) == ([], None)
    assert results.failures == dict.fromkeys(range(3), "RunError: out of order")


class Unrunnable(Engine):
    def run(self, stack: Stack) -> LocalResult[Any]:
        raise SpecError("not as written")


def test_an_experiment_that_cannot_be_run_ends_and_is_no_clients_failure() -> None:
    desk = open_desk()
    desk.engine.inner = Unrunnable()
    with pytest.raises(SpecError, match="not as written"):
        desk.book.results(submit(desk, DRILL, 1, 2, 3))

"""What every attendance should answer: lists of intervals, and of answers, made step by step.

Nothing here searches: lives are laid out from the start, and looked up.
"""

from collections.abc import Sequence

import numpy as np

from driftfold.arrays import Bools
from driftfold.participation import Attendance
from driftfold.participation.adversarial import AllOff, Silent
from driftfold.participation.blocks import InBlocks
from driftfold.participation.dropout import Leaves, LeavesInTime
from driftfold.participation.independent import IndependentResponses
from driftfold.participation.outage import Interrupted
from driftfold.participation.slots import PerDispatch, Slotted
from driftfold.participation.superposed import ByClient, Superposed
from driftfold.participation.trace import Replay
from driftfold.participation.uniform import RandomSubset
from tests.participation.intervals import (
    Changes,
    from_blocks,
    from_parts,
    from_slots,
    life_in_blocks,
    life_of_two,
    walk,
)


def lives(attendance: Attendance, clients: int, until: float) -> list[Changes]:
    """When each of the first clients is on and off, up to a time."""
    if isinstance(attendance, LeavesInTime):
        inner = lives(attendance.inner, clients, until)
        pairs = zip(inner, attendance.times.tolist(), strict=False)
        return [_left(life, end, until) for life, end in pairs]
    if isinstance(attendance, Leaves):
        return lives(attendance.inner, clients, until)
    if isinstance(attendance, Interrupted):
        inner = lives(attendance.inner, clients, until)
        return [_interrupted(attendance, i, inner[i], until) for i in range(clients)]
    if isinstance(attendance, Replay):
        return [_replayed(attendance, i, until) for i in range(clients)]
    if isinstance(attendance, ByClient):
        usual, apart = attendance.usual, attendance.apart
        assert isinstance(usual, InBlocks)
        assert isinstance(apart, Superposed)
        return [
            life_of_two(apart, i, until) if attendance.rare[i] else life_in_blocks(usual, i, until)
            for i in range(clients)
        ]
    if isinstance(attendance, Superposed):
        return [life_of_two(attendance, i, until) for i in range(clients)]
    if isinstance(attendance, InBlocks):
        return from_blocks(attendance, clients, until)
    if isinstance(attendance, Slotted):
        return from_slots(attendance, clients, int(until / attendance.length) + 1)
    if isinstance(attendance, AllOff):
        edges = [t for t in (attendance.start, attendance.end) if 0 < t < until]
        return [Changes(attendance.start > 0, edges, until)] * clients
    assert type(attendance).available is Attendance.available  # nothing of its own about time
    return [Changes(True, [], until)] * clients


def _left(inner: Changes, end: float, until: float) -> Changes:
    return from_parts([*inner.times, end], lambda t: inner.state(t) and t < end, until)


def _interrupted(attendance: Interrupted, client: int, inner: Changes, until: float) -> Changes:
    model = attendance.model
    outages = []
    for k in range(int(until / model.every) + 1):
        u = float(attendance.places.uniform(0, k, 1)[0])
        start = k * model.every + u * (model.every - model.duration)
        end = min(start + model.duration, (k + 1) * model.every)
        if attendance.takes.uniform(int(attendance.region[client]), k, 1)[0] < model.share:
            outages.append((start, end))
    return from_parts(
        [*inner.times, *(edge for outage in outages for edge in outage)],
        lambda t: inner.state(t) and not _within(t, outages),
        until,
    )


def _replayed(replay: Replay, client: int, until: float) -> Changes:
    """The sessions of the table, laid out one period after the other."""
    table, user = replay.table, int(replay.user[client])
    own = slice(int(table.first[user]), int(table.first[user + 1]))
    period = float(table.periods[user])
    sessions = []
    for cycle in range(int(until / period) + 1 if replay.repeat else 1):
        for start, end in zip(table.starts[own].tolist(), table.ends[own].tolist(), strict=True):
            last = (cycle + 1) * period if end == period else cycle * period + end
            sessions.append((cycle * period + start, last))
    edges = [edge for session in sessions for edge in session]
    return from_parts(edges, lambda t: _within(t, sessions), until)


def _within(t: float, intervals: Sequence[tuple[float, float]]) -> bool:
    return any(start <= t < end for start, end in intervals)


def answers(attendance: Attendance, clients: int, dispatches: int) -> Bools:
    """Whether each of the first clients would answer each of the first dispatches, (k, n)."""
    if isinstance(attendance, Leaves):
        left = np.arange(dispatches) >= attendance.times[:clients, None]
        return answers(attendance.inner, clients, dispatches) & ~left
    if isinstance(attendance, LeavesInTime | Interrupted):
        return answers(attendance.inner, clients, dispatches)
    if isinstance(attendance, IndependentResponses):
        rows = [attendance.draws.uniform(i, np.arange(dispatches), 1) for i in range(clients)]
        below: Bools = np.array(rows)[..., 0] < attendance.p[:clients, None]
        return below
    if isinstance(attendance, RandomSubset):
        return _subsets(attendance, dispatches)[:clients]
    if isinstance(attendance, PerDispatch):
        return walk(attendance.process, clients, dispatches)
    result = np.ones((clients, dispatches), dtype=bool)
    if isinstance(attendance, Silent):
        result[attendance.client] = False
    else:
        assert type(attendance).responds is Attendance.responds  # nothing of its own
    return result


def _subsets(attendance: RandomSubset, dispatches: int) -> Bools:
    """All subsets at once, where a query draws one."""
    numbers, size = np.arange(dispatches), attendance.size
    drawn = attendance.draws.subsets(np.zeros_like(numbers), numbers, size, attendance.chosen)
    result = np.zeros((size, dispatches), dtype=bool)
    for number, members in enumerate(drawn.tolist()):
        result[members, number] = True
    return result


def compare_answers(
    attendance: Attendance, truth: Bools, count: int, rng: np.random.Generator
) -> int:
    """Ask everyone about `count` dispatches in random order; return how many queries all agreed."""
    clients, dispatches = len(truth), int(truth.shape[1])
    assert count <= dispatches
    for n in rng.permutation(dispatches)[:count].tolist():
        some = rng.permutation(clients)
        assert attendance.responds(some, n).tolist() == truth[some, n].tolist()
    return clients * count

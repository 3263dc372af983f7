"""Lists of intervals: the slow truth that random access is compared with."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from driftfold.arrays import Bools, Floats
from driftfold.participation import Attendance
from driftfold.participation.blocks import InBlocks
from driftfold.participation.markov import Chains
from driftfold.participation.scheduled import IndependentSlots
from driftfold.participation.slots import SlotProcess, Slotted
from driftfold.participation.superposed import Superposed


@dataclass(frozen=True)
class Changes:
    """One client's life up to a time: its state at 0, and when that changes."""

    on: bool
    times: list[float]
    until: float

    def state(self, t: float) -> bool:
        return self.on ^ bool(bisect_right(self.times, t) % 2)

    def change(self, t: float) -> float | None:
        """When the state at t ends, or None when that is not before `until`."""
        place = bisect_right(self.times, t)
        return self.times[place] if place < len(self.times) else None


def from_slots(attendance: Slotted, clients: int, slots: int) -> list[Changes]:
    """Run through all slots one after the other."""
    states = walk(attendance.process, clients, slots)
    length = attendance.length
    return [
        Changes(
            bool(row[0]),
            [n * length for n, (a, b) in enumerate(pairwise(row.tolist()), 1) if a != b],
            slots * length,
        )
        for row in states
    ]


def from_blocks(attendance: InBlocks, clients: int, until: float) -> list[Changes]:
    """The lives of the first clients."""
    return [life_in_blocks(attendance, i, until) for i in range(clients)]


def life_of_two(attendance: Superposed, client: int, until: float) -> Changes:
    """Apply the switches of both processes in order."""
    goes, comes = _told(attendance.goes, client, until), _told(attendance.comes, client, until)
    told = np.concatenate([goes[0], comes[0]]), np.concatenate([goes[1], comes[1]])
    return _applied(*told, bool(attendance.resets.before(np.array([client]))[0]), until)


def life_in_blocks(attendance: InBlocks, client: int, until: float) -> Changes:
    """Apply all switches one after the other."""
    before = bool(attendance.process.before(np.array([client]))[0])
    return _applied(*_told(attendance, client, until), before, until)


def _told(attendance: InBlocks, client: int, until: float) -> tuple[Floats, Bools]:
    """All switches of a client, in the order of their blocks."""
    process, one = attendance.process, np.array([client])
    origin, length = float(process.origin(one)[0]), float(process.length(one)[0])
    blocks = np.arange(int(process.first_block(one)[0]), int((until - origin) / length) + 2)
    times, states = process.switches(np.full(len(blocks), client), blocks)
    return times.reshape(-1), states.reshape(-1)


def _applied(times: Floats, states: Bools, on: bool, until: float) -> Changes:
    order = np.argsort(times, kind="stable")
    order = order[times[order] <= until]
    at_zero, changes = on, []
    for t, state in zip(times[order].tolist(), states[order].tolist(), strict=True):
        if state == on:
            continue
        on = state
        if t <= 0:
            at_zero = on
        else:
            changes.append(t)
    return Changes(at_zero, changes, until)


def from_parts(
    boundaries: Sequence[float], state: Callable[[float], bool], until: float
) -> Changes:
    """Join the pieces between boundaries, in each of which the state is that at its start."""
    starts = sorted({0.0, *(b for b in boundaries if 0 < b <= until)})
    states = [state(t) for t in starts]
    times = [t for t, (a, b) in zip(starts[1:], pairwise(states), strict=True) if a != b]
    return Changes(states[0], times, until)


def walk(process: SlotProcess, clients: int, slots: int) -> Bools:
    """State of each client in each slot, shape (clients, slots)."""
    everyone = np.arange(clients)
    if isinstance(process, Chains):
        return _chains(process, clients, slots)
    if isinstance(process, IndependentSlots):
        return np.array([_drawn(process, i, slots) for i in range(clients)])
    return np.stack([process.holds(everyone, n) for n in range(slots)], axis=1)


def _drawn(process: IndependentSlots, client: int, slots: int) -> Bools:
    """All slots of one client at once, where a query draws one slot of many."""
    numbers = np.arange(slots)
    p = process.schedule.at(np.array([client]), numbers)[0]
    on: Bools = process.draws.uniform(client, numbers, 1)[:, 0] < p
    return on


def _chains(process: Chains, clients: int, slots: int) -> Bools:
    """The chain as it is defined, from its first slot on."""
    rows = []
    for i in range(clients):
        numbers = process.own.uniform(i, np.arange(slots), 3)
        common = process.shared.uniform(int(process.region[i]), np.arange(slots), 1)
        on = bool(numbers[0, 2] < process.p[i])
        row = []
        for n in range(slots):
            u = common[n, 0] if numbers[n, 1] < process.shock else numbers[n, 0]
            on = bool(u < 1 - process.goes[i]) if on else bool(u < process.comes[i])
            row.append(on)
        rows.append(row)
    return np.array(rows)


def compare(
    attendance: Attendance, truth: Sequence[Changes], times: Floats, rng: np.random.Generator
) -> int:
    """Ask everyone at all `times` in random order, and return how many queries all agreed."""
    size, asked = len(truth), 0
    for t in rng.permutation(times).tolist():
        some = rng.permutation(size)
        on = [truth[i].state(t) for i in some]
        assert attendance.available(some, t).tolist() == on
        ends = attendance.session_end(some, t).tolist()
        starts = attendance.next_on(some, t).tolist()
        for i, state, end, start in zip(some, on, ends, starts, strict=True):
            change = truth[i].change(t)
            stays, other = (start, end) if state else (end, start)
            assert stays == t
            assert other == change if change is not None else other >= truth[i].until
        asked += size
    return asked


def moments(truth: Sequence[Changes], until: float, count: int, rng: np.random.Generator) -> Floats:
    """Random times, of which a half lie at changes or a rounding error before or after them."""
    changes = np.array([t for one in truth for t in one.times if 0 < t < until])
    near = rng.choice(changes, count // 2) if changes.size else np.zeros(0)
    near = np.nextafter(near, rng.choice([-np.inf, np.inf], len(near)))
    exact = rng.random(len(near)) < 0.5
    near[exact] = rng.choice(changes, exact.sum()) if changes.size else near[exact]
    return np.concatenate([rng.uniform(0, until, count - len(near)), near])

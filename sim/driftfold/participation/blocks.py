"""Sessions in continuous time, addressable anywhere: switches drawn block by block."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import RunError
from driftfold.participation.base import Attendance

AHEAD = 1 << 16
"""Blocks that are looked ahead: who does not change within them counts as never changing."""

# Client-blocks looked at in one step of a scan: bounds its memory, not its result.
_TILE = 1 << 15
# Client-blocks that cost little more than one.
_FEW = 128


class Shortcut(Protocol):
    """What finds the same answers sooner than a look at whole blocks, but may leave some to it."""

    def states(self, clients: Ints, t: float) -> tuple[Bools, Ints]:
        """State of each client at t, (k,), and the places of those that are left."""
        ...

    def changes(self, clients: Ints, t: float, on: bool, ahead: int) -> tuple[Floats, Ints]:
        """When each client, from t, ceases to be on (or off), (k,), and the places of those left.

        It is t itself if it is not, and infinity if that never happens within `ahead` blocks.
        """
        ...


class BlockProcess(ABC):
    """On or off in continuous time, told by switches: each sets a client's state.

    A client's time is cut into blocks of a length of its own: block b is [origin + b length,
    origin + (b+1) length), where origin <= 0.
    What happens in a block is drawn by its number, without what happened before.
    """

    reach: ClassVar[int] = 4
    """Blocks before and after a time that mostly tell the state then and its end."""

    numbers: ClassVar[int] = 2**32 - 2**16
    """Blocks are numbered below this. Default: what a stream can be addressed by, and some room."""

    advice: ClassVar[str]
    """What to change where time goes on beyond them."""

    @property
    def shortcut(self) -> Shortcut | None:
        """What answers sooner, where there is such a thing. Default: None."""
        return None

    @abstractmethod
    def length(self, clients: Ints) -> Floats:
        """Length of each client's blocks in seconds, shape (k,)."""

    def origin(self, clients: Ints) -> Floats:
        """Where each client's block 0 begins, in seconds, shape (k,). Default: 0."""
        return np.zeros(len(clients))

    @abstractmethod
    def switches(self, clients: Ints, blocks: Ints) -> tuple[Floats, Bools]:
        """Switches of each client in its block, for clients and blocks of shape (k,).

        Their times within the block, in any order and padded with infinity, shape (k, m), and the
        states that they set, shape (k, m).
        """

    @abstractmethod
    def before(self, clients: Ints) -> Bools:
        """State of each client before the first switch of its first block, shape (k,)."""

    def first_block(self, clients: Ints) -> Ints:
        """Number, at most 0, of each client's first block. Default: 0."""
        return np.zeros(len(clients), dtype=np.int64)

    def stays(self, clients: Ints, on: bool) -> Bools:
        """Whether it is known that who is `on` (off) remains so for ever. Default: of nobody."""
        return np.zeros(len(clients), dtype=bool)


@final
@dataclass(frozen=True, eq=False)
class InBlocks(Attendance):
    """The attendance of a process in blocks; clients answer every dispatch.

    Attributes
    ----------
    process
        What happens in the blocks.
    ahead
        Blocks that a search for a change covers.
    """

    process: BlockProcess
    ahead: int = AHEAD

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is on: the state that the latest switch up to t has set, (k,)."""
        if self.process.shortcut is None:
            return self._states(clients, t)
        states, left = self.process.shortcut.states(clients, t)
        if left.size:
            states[left] = self._states(clients[left], t)
        return states

    def session_end(self, clients: Ints, t: float) -> Floats:
        """Time of the first switch after t that sets the client off; t if it is off at t."""
        return self._until(clients, t, on=True)

    def next_on(self, clients: Ints, t: float) -> Floats:
        """Return t if the client is on, else the time of the first switch that sets it on."""
        return self._until(clients, t, on=False)

    def _until(self, clients: Ints, t: float, on: bool) -> Floats:
        """When each client, from t, ceases to be on (or off): t itself if it is not, else inf."""
        if self.process.shortcut is None:
            return self._changes(clients, t, on)
        times, left = self.process.shortcut.changes(clients, t, on, self.ahead)
        if left.size:
            times[left] = self._changes(clients[left], t, on)
        return times

    def latest(self, clients: Ints, t: float) -> tuple[Floats, Bools]:
        """Time of each client's latest switch up to t, and the state it has set, (k,) each.

        -inf, and the state before all switches, where there is none.
        """
        block = self._block(clients, t)
        times, states = np.full(len(clients), -np.inf), np.zeros(len(clients), dtype=bool)
        self._look_back(clients, t, block, np.arange(len(clients)), times, states)
        return times, states

    def next(self, clients: Ints, t: float, on: bool) -> Floats:
        """Time of each client's first switch after t that sets another state than `on`, (k,)."""
        result = np.full(len(clients), np.inf)
        self._look_ahead(clients, t, self._block(clients, t), np.arange(len(clients)), on, result)
        return result

    def limit(self, clients: Ints) -> Floats:
        """Time from which on each client cannot be asked about, (k,)."""
        return self.process.origin(clients) + self.process.numbers * self.process.length(clients)

    def _states(self, clients: Ints, t: float) -> Bools:
        """State of each client at t, by a look at whole blocks."""
        return self.latest(clients, t)[1]

    def _changes(self, clients: Ints, t: float, on: bool) -> Floats:
        """When each client, from t, ceases to be on (or off), by a look at whole blocks."""
        block, width = self._block(clients, t), _width(len(clients), self.process.reach)
        # For few clients one look at the blocks around t mostly tells the state and its end.
        later = width if width > 1 else 0
        times, states = self._span(clients, t, block - width + 1, width + later)
        at, state = _latest(times, states, t)
        self._look_back(clients, t, block - width, np.flatnonzero(at == -np.inf), at, state)
        leaves = _first(times, states, t, on)
        result = np.where(state == on, leaves, float(t))
        waiting = np.flatnonzero((state == on) & (leaves == np.inf))
        waiting = waiting[~self.process.stays(clients[waiting], on)]
        self._look_ahead(clients, t, block, waiting, on, result, later + 1, width)
        return result

    def _look_ahead(
        self,
        clients: Ints,
        t: float,
        block: Ints,
        waiting: Ints,
        on: bool,
        result: Floats,
        done: int = 0,
        width: int = 1,
    ) -> None:
        """Set `result` of those `waiting` to their first switch after t that does not set `on`.

        `done` blocks from `block` on have been looked at, the last `width` of them at once.
        """
        while waiting.size and done < self.ahead:
            width = max(1, min(2 * width, self.ahead - done, _TILE // waiting.size))
            leaves = _first(*self._span(clients[waiting], t, block[waiting] + done, width), t, on)
            result[waiting] = leaves
            waiting = waiting[leaves == np.inf]
            done += width

    def _look_back(
        self, clients: Ints, t: float, block: Ints, waiting: Ints, times: Floats, states: Bools
    ) -> None:
        """Set time and state of those `waiting` to their latest switch by blocks up to `block`."""
        first = self.process.first_block(clients)
        block, width = block.copy(), min(2, self.process.reach)
        while waiting.size:
            over = block[waiting] < first[waiting]
            if over.any():
                states[waiting[over]] = self.process.before(clients[waiting[over]])
                waiting = waiting[~over]
                if not waiting.size:
                    return
            width = _width(len(waiting), width)
            spans = self._span(clients[waiting], t, block[waiting] - width + 1, width)
            times[waiting], states[waiting] = _latest(*spans, t)
            waiting = waiting[times[waiting] == -np.inf]
            block[waiting] -= width
            width *= 2

    def _span(self, clients: Ints, t: float, block: Ints, width: int) -> tuple[Floats, Bools]:
        """Switches of `width` blocks of each client from one of its own, (k, m) each, about t."""
        numbers = (block[:, None] + np.arange(width)).reshape(-1)
        self._check(numbers, t)
        who = np.repeat(clients, width)
        first = self.process.first_block(who)
        times, states = self.process.switches(who, np.maximum(numbers, first))
        times = np.where((numbers < first)[:, None], np.inf, times)
        shape = len(clients), width * times.shape[1]
        return times.reshape(shape), states.reshape(shape)

    def _block(self, clients: Ints, t: float) -> Ints:
        """Return the block that holds t, by the very products that blocks start at."""
        length, origin = self.process.length(clients), self.process.origin(clients)
        number = np.floor((t - origin) / length)
        # The quotient may be rounded across the boundary that the product defines.
        number = np.where(origin + (number + 1) * length <= t, number + 1, number)
        number = np.where(origin + number * length > t, number - 1, number)
        self._check(number, t)
        return number.astype(np.int64)

    def _check(self, numbers: Floats | Ints, t: float) -> None:
        """Refuse blocks that have no number."""
        if not numbers.max(initial=0) < self.process.numbers:
            raise RunError(
                f"virtual time {t:g} s lies beyond the {self.process.numbers:g} stretches of time "
                f"in which a client's sessions are drawn; {self.process.advice}"
            )


def _width(clients: int, wanted: int) -> int:
    """Blocks to look at in one step: more for few clients, where a step costs more than they do."""
    return max(1, min(wanted, _FEW // max(1, clients)))


def _latest(times: Floats, states: Bools, t: float) -> tuple[Floats, Bools]:
    """Time of the latest switch up to t, -inf if none, and the state that it sets, (k,) each."""
    if not times.size:
        return np.full(len(times), -np.inf), np.zeros(len(times), dtype=bool)
    passed = np.where(times <= t, times, -np.inf)
    rows, latest = np.arange(len(times)), passed.argmax(axis=1)
    return passed[rows, latest], states[rows, latest]


def _first(times: Floats, states: Bools, t: float, on: bool) -> Floats:
    """Time of the first switch after t that sets another state than `on`, (k,); inf if none."""
    first: Floats = np.where((states != on) & (times > t), times, np.inf).min(
        axis=1, initial=np.inf
    )
    return first

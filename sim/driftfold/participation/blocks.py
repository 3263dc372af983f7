"""Sessions in continuous time, addressable anywhere: switches drawn block by block."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.participation.base import Attendance

AHEAD = 1 << 16
"""Blocks that are looked ahead: who does not change within them counts as never changing."""

# Client-blocks looked at in one step of a scan: bounds its memory, not its result.
_TILE = 1 << 15


class BlockProcess(ABC):
    """On or off in continuous time, told by switches: each sets a client's state.

    A client's time is cut into blocks of a length of its own: block b is [origin + b length,
    origin + (b+1) length), where origin <= 0.
    What happens in a block is drawn by its number, without what happened before.
    """

    @abstractmethod
    def length(self, clients: Ints) -> Floats:
        """Length of each client's blocks in seconds, shape (k,)."""

    def origin(self, clients: Ints) -> Floats:
        """Where each client's block 0 begins, in seconds, shape (k,). Default: 0."""
        return np.zeros(len(clients))

    @abstractmethod
    def switches(self, clients: Ints, blocks: Ints) -> tuple[Floats, Bools]:
        """Switches of each client in its block, for clients and blocks of shape (k,).

        Their times within the block in ascending order, padded with infinity, shape (k, m), and the
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
        result = np.zeros(len(clients), dtype=bool)
        waiting, block = np.arange(len(clients)), self._block(clients, t)
        first = self.process.first_block(clients)
        while waiting.size:
            times, states = self.process.switches(clients[waiting], block[waiting])
            passed = np.count_nonzero(times <= t, axis=1)
            found = passed > 0
            result[waiting[found]] = states[found, passed[found] - 1]
            waiting = waiting[~found]
            block[waiting] -= 1
            over = block[waiting] < first[waiting]
            result[waiting[over]] = self.process.before(clients[waiting[over]])
            waiting = waiting[~over]
        return result

    def session_end(self, clients: Ints, t: float) -> Floats:
        """Time of the first switch after t that sets the client off; t if it is off at t."""
        return self._until(clients, t, on=True)

    def next_on(self, clients: Ints, t: float) -> Floats:
        """Return t if the client is on, else the time of the first switch that sets it on."""
        return self._until(clients, t, on=False)

    def _until(self, clients: Ints, t: float, on: bool) -> Floats:
        """When each client, from t, ceases to be on (or off): t itself if it is not, else inf."""
        result = np.full(len(clients), float(t))
        waiting = np.flatnonzero(self.available(clients, t) == on)
        result[waiting] = np.inf
        waiting = waiting[~self.process.stays(clients[waiting], on)]
        block, done, width = self._block(clients, t), 0, 1
        while waiting.size and done < self.ahead:
            width = max(1, min(width, self.ahead - done, _TILE // waiting.size))
            numbers = block[waiting, None] + np.arange(done, done + width)
            who = np.repeat(clients[waiting], width)
            times, states = self.process.switches(who, numbers.reshape(-1))
            leaves = np.where((states != on) & (times > t), times, np.inf)
            soonest = leaves.reshape(len(waiting), -1).min(axis=1, initial=np.inf)
            result[waiting] = soonest
            waiting = waiting[soonest == np.inf]
            done += width
            width *= 2
        return result

    def _block(self, clients: Ints, t: float) -> Ints:
        """Return the block that holds t, by the very products that blocks start at."""
        length, origin = self.process.length(clients), self.process.origin(clients)
        number = np.floor((t - origin) / length)
        # The quotient may be rounded across the boundary that the product defines.
        number = np.where(origin + (number + 1) * length <= t, number + 1, number)
        number = np.where(origin + number * length > t, number - 1, number)
        return number.astype(np.int64)

"""Participation with memory: a chain of two states for each client."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import InSlots, Slot
from driftfold.participation.probabilities import Probability, probabilities
from driftfold.participation.slots import FAR, SlotProcess, Slotted, StationaryPerDispatch
from driftfold.registry import register
from driftfold.rng import Stream

# Client-slots looked back at in one step: bounds memory, not results.
_TILE = 1 << 16


@register("markov")
@dataclass(frozen=True)
class Markov(InSlots):
    """Each client switches on and off by a Markov chain, stationary from the start.

    Client i comes on with probability a_i per slot and goes off with probability b_i, so that it
    is on a share p_i = a_i / (a_i + b_i) of the slots. a_i = `rate` and b_i = rate (1 / p_i - 1),
    both scaled down together where b_i would exceed 1; or, with `memory` m, a_i = p_i (1 - m) and
    b_i = (1 - p_i) (1 - m), where m is the correlation of neighbouring slots. Source: Wang and Ji,
    "A Lightweight Method for Tackling Unknown Participation Statistics in Federated Averaging"
    (FedAU, ICLR 2024), experiments; Rodio et al., "Federated Learning under Heterogeneous and
    Correlated Client Availability" (2023).

    Attributes
    ----------
    p
        Stationary probability: one for all clients, a list of one for each, or None to draw them.
    low, high
        Drawn probabilities are p_i ~ U(low, high), fixed by the seed and the client's id.
    rate
        Probability per slot of coming on, where it need not be scaled down.
    memory
        Correlation of neighbouring slots, the same for all; None to use `rate`.
    regions
        Number of regions over which clients are spread at random.
    shock
        Probability that in a slot a client follows the draw of its region instead of its own. The
        chain of each client alone is unchanged, but clients of a region switch together.
    slot
        Length of a slot in seconds; or "dispatch": each is one, which who is on answers.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(3, 5), importance=np.full(3, 1 / 3))
    >>> chain = Markov(p=0.5, memory=0.8).attend(fleet)
    >>> ["".join(".#"[int(chain.responds(np.array([i]), n)[0])] for n in range(40))
    ...  for i in range(2)]
    ['###....#########....###.................', '#..................##.......############']
    """

    p: Probability | tuple[Probability, ...] | None = None
    low: Probability = 0.0
    high: Probability = 1.0
    rate: Annotated[float, Interval(gt=0, le=1)] = 0.05
    memory: Annotated[float, Interval(ge=0, lt=1)] | None = None
    regions: Annotated[int, Interval(ge=1, le=2**32)] = 1
    shock: Annotated[float, Interval(ge=0, le=1)] = 0.0
    slot: Slot = "dispatch"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the probabilities do not fit."""
        p = probabilities("markov", self.p, self.low, self.high, fleet)
        comes, goes = self._switching(p)
        everyone = np.arange(fleet.size)
        seed = fleet.seed
        region = seed.stream("participation.region").integers(everyone, 0, 1, self.regions)[:, 0]
        chains = Chains(
            p,
            comes,
            goes,
            region,
            self.shock,
            seed.stream("participation.chain"),
            seed.stream("participation.shock"),
        )
        if self.slot == "dispatch":
            return StationaryPerDispatch(chains, p)
        return Slotted(chains, self.slot, FAR)

    def _switching(self, p: Floats) -> tuple[Floats, Floats]:
        """Probabilities per slot of coming on and of going off, shape (N,) each."""
        if self.memory is not None:
            return p * (1 - self.memory), (1 - p) * (1 - self.memory)
        if not self.rate > 0:
            raise SpecError(
                f"participation 'markov' got rate = {self.rate}; nobody would ever come on, so set "
                "0 < rate <= 1"
            )
        # b = rate (1 - p) / p > 1 without a division by p = 0.
        fast = self.rate * (1 - p) > p
        safe = np.where(fast, 1.0, p)
        comes = np.where(fast, p / np.where(fast, 1 - p, 1.0), self.rate)
        return comes, np.where(fast, 1.0, self.rate * (1 - p) / safe)


@final
@dataclass(frozen=True, eq=False)
class Chains(SlotProcess):
    """The chains, each driven by one uniform number u per slot.

    It takes a client from off to on where u < a, and from on to off where u >= 1 - b. The state is
    found without running the chain from its start: a number u for which both rules name the same
    state sets it whatever came before (probability at least min(a + b, 2 - a - b) per slot), so it
    is enough to look back to the latest such slot; in between the state stays, or flips where
    a > u >= 1 - b. Before slot 0 it is on with probability p, the stationary one. Source: coupling
    from the past, Propp and Wilson (1996).

    Attributes
    ----------
    p, comes, goes
        Stationary probability, a and b of each client, shape (N,).
    region
        Each client's region, shape (N,).
    shock
        Probability that u is the region's.
    own, shared
        Streams of the clients (three numbers per slot: u, whether it is the region's, and, in slot
        0, the state before) and of the regions.
    """

    p: Floats
    comes: Floats
    goes: Floats
    region: Ints
    shock: float
    own: Stream
    shared: Stream

    def holds(self, clients: Ints, slot: int) -> Bools:
        """Whether each client is on in this slot, shape (k,)."""
        result = np.zeros(len(clients), dtype=bool)
        waiting, flipped = np.arange(len(clients)), np.zeros(len(clients), dtype=bool)
        last, width = slot, 8
        while waiting.size and last >= 0:
            width = max(1, min(width, last + 1, _TILE // waiting.size))
            some = clients[waiting]
            slots = np.arange(last, last - width, -1)
            off_next, on_next = self._maps(some, slots)
            sets = off_next == on_next
            found = sets.any(axis=1)
            latest = np.where(found, sets.argmax(axis=1), width)
            passed = np.arange(width) < latest[:, None]
            odd = (np.count_nonzero(passed & off_next, axis=1) % 2).astype(bool)
            flipped[waiting] ^= odd
            state = off_next[found, latest[found]]
            result[waiting[found]] = state ^ flipped[waiting[found]]
            waiting = waiting[~found]
            last -= width
            width *= 2
        if waiting.size:
            some = clients[waiting]
            first = self.own.uniform(some, 0, 3)[:, 2] < self.p[some]
            result[waiting] = first ^ flipped[waiting]
        return result

    def changes(self, clients: Ints, slots: Ints, on: bool) -> Bools:
        """Whether each slot takes a client that was `on` (off) to the other state, (k, m)."""
        off_next, on_next = self._maps(clients, slots)
        return ~on_next if on else off_next

    def stays(self, clients: Ints, on: bool) -> Bools:
        """Whether the client's chain has no way out of the state."""
        stuck: Bools = (self.goes if on else self.comes)[clients] == 0
        return stuck

    def _maps(self, clients: Ints, slots: Ints) -> tuple[Bools, Bools]:
        """Where each slot takes a client that was off, and one that was on, (k, m) each."""
        rows = clients[:, None]
        if self.shock == 0:
            u = self.own.uniform(rows, slots, 1)[..., 0]
        else:
            numbers = self.own.uniform(rows, slots, 2)
            regions, places = np.unique(self.region[clients], return_inverse=True)
            common = self.shared.uniform(regions[:, None], slots, 1)[places, :, 0]
            u = np.where(numbers[..., 1] < self.shock, common, numbers[..., 0])
        return u < self.comes[rows], u < 1 - self.goes[rows]

"""Frequencies of the last rounds only: what is older is forgotten at once."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from annotated_types import Interval

from driftfold.arrays import Floats, Ints
from driftfold.columns import Column, replaced
from driftfold.errors import SpecError
from driftfold.estimators.base import Estimator
from driftfold.estimators.tables import never
from driftfold.fleet import Fleet
from driftfold.memory import gigabytes, machine_bytes
from driftfold.participation.base import Attendance
from driftfold.registry import register
from driftfold.trees import node

Words = npt.NDArray[np.uint64]
_WORD = 64  # bits


@node
class Recent:
    """Of each client: its responses as bits, shape (N, words), and the round of the last, (N,).

    Bit b of word j stands for round last - 64 j - b.
    """

    bits: Column[np.uint64]
    last: Column[np.int64]


@register("window")
@dataclass(frozen=True)
class Window(Estimator[Recent]):
    """Weight a_i / q_i, q_i = (c_i + 1/2) / (n + 1), c_i the responses in the n rounds before t.

    n is `rounds`, or t - 1 where fewer have passed. After a jump of p_i the estimate is right again
    within n rounds; its variance is about p (1 - p) / n. The half response (Krichevsky and
    Trofimov, 1981) bounds weights by 2 (n + 1) a_i, also for clients not seen at all. Bits move
    when their client responds, so a round's work is the responders', for each 64 rounds of n.

    Attributes
    ----------
    rounds
        Length n of the window.

    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Window(rounds=2)
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0]), round=2)
    >>> rule.weigh(state, fleet, np.array([0, 1]), round=4)[0]
    array([1., 3.])
    """

    rounds: Annotated[int, Interval(ge=1, le=2**16)] = 50

    def begin(self, fleet: Fleet, attendance: Attendance) -> Recent:
        """No responses; raises `SpecError` when there is no memory for so many."""
        words = -(-self.rounds // _WORD)
        if (size := 8 * fleet.size * words) > machine_bytes():
            raise SpecError(
                f"estimator 'window' got rounds = {self.rounds} for {fleet.size} clients, which "
                f"takes {gigabytes(size)}, and this machine has {gigabytes(machine_bytes())}; set "
                "fewer rounds"
            )
        return Recent(Column(np.zeros((fleet.size, words), dtype=np.uint64)), never(fleet.size))

    def weigh(
        self, state: Recent, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Recent]:
        """Return a_i / q_i from the rounds before `round`, and the bits with this one."""
        bits = self._aged(state.bits[responders], round - 1 - state.last[responders])
        count = np.bitwise_count(bits).sum(axis=-1, dtype=np.int64)
        q = (count + 0.5) / (min(self.rounds, round - 1) + 1)
        now = self._aged(bits, np.ones_like(responders))
        now[:, 0] |= np.uint64(1)
        seen = Recent(
            replaced(state.bits, responders, now), replaced(state.last, responders, round)
        )
        return fleet.importance[responders] / q, seen

    def _aged(self, bits: Words, rounds: Ints) -> Words:
        """Move each client's bits, shape (k, words), on by its number of rounds, shape (k,)."""
        whole, part = np.divmod(rounds[:, None], _WORD)
        shift = part.astype(np.uint64)
        source = np.arange(bits.shape[1]) - whole
        # A word takes the low bits of one word, and the high ones of the word before that. Shifting
        # by all 64 bits is not defined: so by one and by the rest.
        high = _words(bits, source) << shift
        low = _words(bits, source - 1) >> np.uint64(1) >> (np.uint64(_WORD - 1) - shift)
        moved: Words = high | low
        rest = self.rounds % _WORD
        if rest:
            moved[:, -1] &= np.uint64((1 << rest) - 1)
        return moved


def _words(bits: Words, source: npt.NDArray[Any]) -> Words:
    """Words `source` of each row; 0 where there is none."""
    found = np.take_along_axis(bits, np.maximum(source, 0), axis=1)
    return np.where(source >= 0, found, np.uint64(0))

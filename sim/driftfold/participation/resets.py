"""Two states with exponential sojourns, addressable anywhere, at rates that may follow the day."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.native import Law, searcher
from driftfold.participation.blocks import BlockProcess, Shortcut
from driftfold.participation.rates import Rates
from driftfold.rng import Stream, Words

MEAN = 2.0
"""Mean number of candidates in a block."""

_USUAL = 5
"""Candidates that nearly all blocks have at most: they take 16 words."""

_UNIT = 2.0**-32

_FORGOTTEN = 60.0
"""Expected switches before time 0, after which what was before them counts with e^-60."""


@final
@dataclass(frozen=True, eq=False)
class Resets(BlockProcess):
    """A Markov process of two states in continuous time, made of switches that forget.

    Candidates come as a Poisson process of rate `bound`. One at time s sets the client on with
    probability on(s) / bound, off with probability off(s) / bound, and else does nothing, whatever
    the state was. So an off client comes on at rate on(s) and an on client goes off at rate
    off(s), exactly, and the state at any time is that of the latest switch: nothing need be
    run from the start. Candidates of disjoint blocks are independent: a Poisson number with mean 2,
    at uniform places. Numbers and marks are of 32 bits, so that no probability is off by more than
    2^-32. Source: thinning, Lewis and Shedler (1979).

    Attributes
    ----------
    bound
        Rate of candidates of each client in 1/s, at least on(s) + off(s), shape (N,).
    rates
        on(s) and off(s), as shares of it.
    start
        Probability that each client is on before its first switch, shape (N,).
    warm
        Blocks before time 0 in which candidates are drawn. 0 is exact for rates that are constant
        and a stationary `start`.
    draws
        Stream of the blocks, addressed by client and block.
    early
        Stream of the states before the first switch.
    """

    # Places within a block are then still told to 2^-8 of it.
    numbers = 2**44
    advice = (
        "choose longer sessions or gaps (participation 'markov_sessions' and 'diurnal_sessions' "
        "have `session`), or an earlier end of the run (horizon)"
    )

    bound: Floats
    rates: Rates
    start: Floats
    warm: int
    draws: Stream
    early: Stream

    def length(self, clients: Ints) -> Floats:
        """Length of each client's blocks in seconds, shape (k,)."""
        return MEAN / self.bound[clients]

    def switches(self, clients: Ints, blocks: Ints) -> tuple[Floats, Bools]:
        """Times and states, shape (k, m) each."""
        visits = blocks + self.warm
        words = self._words(clients, visits, 1 + 3 * _USUAL)
        count = np.searchsorted(_CUMULATIVE, words[:, 0] * _UNIT, side="right")
        most = int(count.max(initial=0))
        if most > _USUAL:
            many = np.flatnonzero(count > _USUAL)
            usual, words = words, np.zeros((len(words), 1 + 3 * most), words.dtype)
            words[:, : usual.shape[1]] = usual
            words[many] = self._words(clients[many], visits[many], 1 + 3 * most)
        words = words[:, 1:].reshape(len(clients), max(most, _USUAL), 3)[:, :most]
        marks = words[..., 2] * _UNIT
        places = (words[..., 0] + words[..., 1] * _UNIT) * _UNIT
        times = (blocks[:, None] + places) * self.length(clients)[:, None]
        comes, goes = self.rates.shares(clients, times)
        on = marks < comes
        counts = (np.arange(most) < count[:, None]) & (on | (marks >= 1 - goes))
        return np.where(counts, times, np.inf), on

    def _words(self, clients: Ints, visits: Ints, count: int) -> Words:
        """Words of each block: those of every 2^32 blocks come from a stream of their own."""
        turns = visits >> 32
        if not turns.any():
            return self.draws.words(clients, visits, count)
        words = np.empty((len(visits), count), np.uint32)
        for turn in np.unique(turns).tolist():
            some = np.flatnonzero(turns == turn)
            name = f"{self.draws.purpose}.{turn}" if turn else self.draws.purpose
            draws = Stream(self.draws.seed, name)
            words[some] = draws.words(clients[some], visits[some] & 0xFFFFFFFF, count)
        return words

    def before(self, clients: Ints) -> Bools:
        """State of each client before its first switch, shape (k,)."""
        on: Bools = self.early.uniform(clients, 0, 1)[:, 0] < self.start[clients]
        return on

    def first_block(self, clients: Ints) -> Ints:
        """-warm for each client, shape (k,)."""
        return np.full(len(clients), -self.warm, dtype=np.int64)

    @cached_property
    def shortcut(self) -> Shortcut | None:
        """The search by the library of kernels, where there is one."""
        return searcher(self.law())

    def law(self) -> Law:
        """All that this is made of, as the library of kernels takes it."""
        rates = self.rates
        return Law(
            key=self.draws.seed,
            draws=self.draws.address,
            early=self.early.address,
            warm=self.warm,
            mean=MEAN,
            cumulative=_CUMULATIVE,
            bound=self.bound,
            start=self.start,
            on=rates.on,
            off=rates.off,
            top=rates.top,
            amplitude=rates.amplitude,
            amplitude_off=rates.amplitude_off,
        )

    def stays(self, clients: Ints, on: bool) -> Bools:
        """Whether the client is on (off) at all times."""
        certain: Bools = self.start[clients] == float(on)
        return certain


def warm_blocks(share: float) -> int:
    """Blocks with 60 switches on average, where that `share` of the candidates are switches.

    >>> warm_blocks(0.5)
    60
    """
    return int(np.ceil(_FORGOTTEN / (MEAN * share)))


def _cumulative(mean: float) -> Floats:
    """P(X <= n) of a Poisson number X, up to where float64 has no more."""
    term = total = float(np.exp(-mean))
    table = [total]
    while total < 1 - 2**-53 and len(table) < 64:
        term *= mean / len(table)
        total += term
        table.append(total)
    table[-1] = 1.0
    return np.array(table)


_CUMULATIVE = _cumulative(MEAN)

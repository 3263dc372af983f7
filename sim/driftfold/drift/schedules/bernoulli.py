"""Drift back and forth, by jumps at random."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Literal, final

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Bools, Floats, Ints
from driftfold.drift.schedule import Path, Schedule, Steps
from driftfold.drift.timeline import Timeline
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register
from driftfold.rng import Stream

_BLOCK = 16
"""Steps whose switches are looked at together."""

_TILE = 1 << 15
"""Client-blocks looked at in one step of a search: bounds its memory, not its result."""


@register("bernoulli")
@dataclass(frozen=True)
class Bernoulli(Schedule):
    """Each client's w is 0 at first, and jumps at random between 0 and 1.

    `chain`: w_t is w_{t-1}, flipped with probability p: the schedule of Bai et al. (ATLAS, NeurIPS
    2022), with p = 1 / sqrt(T). `redraw`: w_t is 1 with probability (1 - (1 - 2p)^t) / 2,
    independently at each step. That is the law of a chain at t alone, drawn anew at every step, and
    soon a fair coin: what the released scripts of Fed-ADE (2026) run.

    Attributes
    ----------
    p
        Probability of a flip; None: 1 / sqrt(T), at most 1.
    form
        `chain` or `redraw`.
    common
        Whether all clients have the same course.
    name
        Drifts whose schedules have the same name draw the same; empty: each draws its own.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> path = Bernoulli().path(Timeline(clients=2, steps=100, seconds=60.0, seed=Seed(1)))
    >>> for client in (0, 1):
    ...     print("".join(str(int(w)) for w in path.weight(np.full(60, client), np.arange(60))))
    000000000000000111111110001111111110000000000000000001111111
    000111111000001111111111000010000001111111011111111111111111
    """

    p: Annotated[float, Interval(ge=0, le=1)] | None = None
    form: Literal["chain", "redraw"] = "chain"
    common: bool = False
    name: str = ""

    def path(self, timeline: Timeline) -> Path:
        """Return the path."""
        p = 1 / math.sqrt(max(1, timeline.steps)) if self.p is None else self.p
        draws = timeline.stream("flips", self.name)
        path = Chain if self.form == "chain" else Redrawn
        return path(timeline.steps, True, p, self.common, draws)


@dataclass(frozen=True, eq=False)
class Flipping(Path):
    """A state of 0 or 1 that begins as 0.

    Attributes
    ----------
    p
        Probability of a flip from one step to the next.
    common
        Whether all clients have the draws of client 0.
    draws
        Stream of the flips.
    """

    p: float
    common: bool
    draws: Stream

    def weight(self, clients: Ints, steps: Steps) -> Floats:
        """State at the latest whole step, shape (k,)."""
        who = np.zeros_like(clients) if self.common else clients
        when = np.maximum(np.floor(steps), 0).astype(np.int64)
        return self.state(who, when).astype(np.float64)

    @abstractmethod
    def state(self, clients: Ints, steps: Ints) -> Bools:
        """Whether the state is 1, at steps from 0 on, shape (k,)."""


@final
class Redrawn(Flipping):
    """Independent states with the law that a chain has at each step."""

    def state(self, clients: Ints, steps: Ints) -> Bools:
        """A draw of its own for each client and step."""
        stays = np.abs(1 - 2 * self.p)
        sign = np.where((steps % 2 == 1) & (self.p > 0.5), -1.0, 1.0)
        power = in_whole_vectors(lambda t: np.power(stays, t), steps.astype(np.float64))
        on: Bools = self.draws.uniform(clients, steps, 1)[:, 0] < (1 - sign * power) / 2
        return on


@final
class Chain(Flipping):
    """A persistent chain that is asked anywhere: its state is that of its latest reset.

    To flip with probability p <= 1/2 is to be reset to a fair coin with probability 2p, whatever
    the state was; so one looks back from t to the latest reset, 1 / (2p) steps on average. Where
    p > 1/2 flips are what is rare to be missed: the state is turned at each step, and a chain with
    1 - p added to it.
    """

    def state(self, clients: Ints, steps: Ints) -> Bools:
        """Coin of the latest reset up to each step, or 0."""
        rare = min(self.p, 1 - self.p)
        on = np.zeros(len(clients), dtype=bool)
        block, width = steps // _BLOCK, 1
        waiting = np.arange(len(clients)) if rare > 0 else np.arange(0)
        while waiting.size:
            width = max(1, min(width, _TILE // waiting.size))
            numbers = block[waiting, None] - np.arange(width)
            u = self.draws.uniform(clients[waiting, None], np.maximum(numbers, 0), _BLOCK)
            places = numbers[..., None] * _BLOCK + np.arange(_BLOCK)
            passed = (places >= 1) & (places <= steps[waiting, None, None]) & (u < 2 * rare)
            reset = np.where(passed, places, 0).reshape(len(waiting), -1)
            rows, latest = np.arange(len(waiting)), reset.argmax(axis=1)
            found = reset[rows, latest] > 0
            coin = u.reshape(len(waiting), -1)[rows, latest] < rare
            on[waiting[found]] = coin[found]
            block[waiting] -= width
            waiting = waiting[~found & (block[waiting] >= 0)]
            width *= 2
        return on if self.p <= 0.5 else on ^ (steps % 2 == 1)

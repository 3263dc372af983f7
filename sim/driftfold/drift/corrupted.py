"""Pictures that are spoilt more and more."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, final

import numpy as np
from annotated_types import Ge, MinLen

from driftfold.arrays import Array, Bools, Ints
from driftfold.drift.base import InputCourse, InputDrift
from driftfold.drift.corruptions.bank import Bank, shared_bank
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.eight_bit import from_bytes, to_bytes
from driftfold.drift.corruptions.enlarged import Enlarged
from driftfold.drift.corruptions.published import PUBLISHED
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Schedule
from driftfold.drift.schedules.linear import Linear
from driftfold.drift.timeline import Timeline
from driftfold.errors import CapabilityError
from driftfold.registry import register


@register("corruptions")
@dataclass(frozen=True)
class Corrupted(InputDrift):
    """Each client's pictures are spoilt by one corruption, whose severity follows w.

    Client i has corruption i mod the number of them; the severity is ceil(4 w) + 1, from 1 to 5,
    so that nobody ever has clean pictures, unless `clean`. A picture under a corruption is the same
    picture at every step, as in CIFAR-10-C. Source: Fed-ADE (2026), covariate shift; Hendrycks and
    Dietterich, "Benchmarking Neural Network Robustness to Common Corruptions and Perturbations"
    (ICLR 2019).

    Attributes
    ----------
    schedule
        How w moves.
    corruptions
        The corruptions; None: the 15 of CIFAR-10-C in their usual order.
    enlarge
        Corrupt pictures enlarged by this factor, and take means of blocks back: for pictures that
        are smaller than those the corruptions' constants are meant for.
    assigned
        `number`: client i has corruption i mod their number; `drawn`: a uniformly random one.
    clean
        Whether pictures are as they are where w = 0 (severity 0).
    room
        Bytes that pictures once spoilt may take; they are kept to be used again.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=20, steps=100, seconds=60.0, seed=Seed(1))
    >>> course = Corrupted().bind(timeline, Pool(2, np.full(2, 0.5), shape=(8, 8)))
    >>> kinds, severities = course.numbers(np.array([0, 1, 16]), np.array([0, 50, 99]))
    >>> kinds, severities, course.changes(16)
    (array([0, 1, 1]), array([1, 4, 5]), array([ 1, 25, 50, 75]))
    """

    schedule: Schedule = field(default_factory=Linear)
    corruptions: Annotated[tuple[Corruption, ...], MinLen(1)] | None = None
    enlarge: Annotated[int, Ge(1)] = 1
    assigned: Literal["number", "drawn"] = "number"
    clean: bool = False
    room: Annotated[int, Ge(0)] = 10**9

    of_images = True

    def bind(self, timeline: Timeline, pool: Pool) -> "Spoiling":
        """Return the course of all clients; a client's group is the number of its corruption."""
        if pool.shape is None:
            raise CapabilityError(
                "drift 'corruptions' spoils pictures, but these inputs are none; choose drift "
                "'feature_noise' or 'affine_shift', or data that are pictures"
            )
        kinds = PUBLISHED if self.corruptions is None else self.corruptions
        if self.enlarge > 1:
            kinds = tuple(Enlarged(kind, self.enlarge) for kind in kinds)
        everyone = np.arange(timeline.clients)
        if self.assigned == "drawn":
            which = timeline.stream("corruption").integers(everyone, 0, 1, len(kinds))[:, 0]
        else:
            which = everyone % len(kinds)
        bank = None
        if pool.inputs is not None:
            bank = shared_bank(_with_channels(pool.inputs, pool.shape), kinds, self.room)
        path = self.schedule.path(timeline.of(timeline.part, which))
        return Spoiling(path, kinds, which, self.clean, pool.shape, bank)


@final
@dataclass(frozen=True, eq=False)
class Spoiling(InputCourse):
    """Pictures under corruptions.

    Attributes
    ----------
    kinds
        The corruptions.
    which
        Number of each client's corruption, shape (N,).
    clean
        Whether severity 0 is met.
    shape
        Of a picture, (H, W) or (H, W, ch).
    bank
        What has been spoilt already of the pool, or None for pictures that are of no pool.
    """

    kinds: tuple[Corruption, ...]
    which: Ints
    clean: bool
    shape: tuple[int, ...]
    bank: Bank | None

    def numbers(self, clients: Ints, steps: Ints) -> tuple[Ints, Ints]:
        """Number and severity (0: clean, 1 to 5) of each client's corruption, shape (k,) each."""
        w = self.path.weight(clients, steps)
        severity = np.clip(np.ceil(4 * w) + 1, 1, 5).astype(np.int64)
        return self.which[clients], np.where((w == 0) & self.clean, 0, severity)

    def apply(self, x: Array, rows: Ints, clients: Ints, steps: Ints) -> Array:
        """Pictures as they are met, values in whole 255ths as in CIFAR-10-C; clean ones stay."""
        which, severity = self.numbers(clients, steps)
        met, some = x.copy(), np.flatnonzero(severity)
        if self.bank is not None:
            spoilt = self.bank.pictures(which[some, None], severity[some, None], rows[some])
            met[some] = from_bytes(spoilt).reshape(x[some].shape)
            return met
        for i in some:
            pictures = from_bytes(to_bytes(_with_channels(x[i], self.shape)))
            made = self.kinds[which[i]].corrupt(pictures, int(severity[i]), rows[i])
            met[i] = from_bytes(to_bytes(made)).reshape(x[i].shape)
        return met

    def changed(self, clients: Ints, steps: Ints) -> Bools:
        """Whether the severity is another than a step before."""
        _, severity = self.numbers(clients, steps)
        _, before = self.numbers(clients, np.maximum(steps - 1, 0))
        changed: Bools = severity != before
        return changed


def _with_channels(x: Array, shape: tuple[int, ...]) -> Array:
    """Pictures as corruptions take them, (n, H, W, ch)."""
    return x.reshape(len(x), *shape[:2], -1)

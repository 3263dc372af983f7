"""Streams: the batch that each client meets at each step."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.drift.base import DomainCourse, LabelCourse
from driftfold.drift.drifting import Drifting
from driftfold.errors import SpecError
from driftfold.rng import Seed


@dataclass(frozen=True, eq=False)
class Stream:
    """What clients meet: a pure function of client and step, asked in any order and company.

    The classes of a batch are drawn from the shares of the present step, which are those before
    deployment where nothing moves them, and not the pool's; then for each a sample of that class
    from the pool. Where a drift says which classes or domains come, that is with replacement; else
    the samples of a batch are distinct, as long as the pool has enough of each class.

    Attributes
    ----------
    pool, labels
        Samples, shape (m, *inputs), and their classes, (m,).
    domains
        Their domains, shape (m,), or None.
    drifting
        What moves.
    clients
        Number of clients N.
    size
        Inputs n of a batch.
    steps
        Number of steps T.
    seed
        The experiment's seed.
    """

    pool: Array
    labels: Ints
    domains: Ints | None
    drifting: Drifting
    clients: int
    size: int
    steps: int
    seed: Seed

    def batch(self, clients: Ints, steps: Ints) -> tuple[Array, Ints]:
        """Inputs (..., n, *inputs) and true classes (..., n) of `clients` at `steps`, (...)."""
        who, when = clients.reshape(-1), steps.reshape(-1)
        rows = self.rows(who, when)
        x = self.drifting.apply(self.pool[rows], rows, who, when)
        y = self.drifting.relabel(self.labels[rows], who, when)
        return x.reshape(*clients.shape, *x.shape[1:]), y.reshape(*clients.shape, self.size)

    def rows(self, clients: Ints, steps: Ints) -> Ints:
        """Numbers of the samples in the pool, shape (k, n)."""
        cells = self._classes(clients, steps)
        domains = self.drifting.domain_shares(clients, steps)
        if domains is not None:
            which = self.seed.stream("stream domains").uniform(clients, steps, self.size)
            cells = cells + self._classes_count * _drawn(domains, which)
        place = self.seed.stream("stream picks").uniform(clients, steps, self.size)
        order, starts, counts = self._cells
        picked = _anyhow if self._chosen else _distinct
        rows: Ints = order[starts[cells] + picked(cells, place, counts)]
        return rows

    def check(self) -> None:
        """Raise `SpecError` when a class or domain is to come of which the pool has no sample."""
        counts = self._cells[2].reshape(-1, self._classes_count)
        if counts.all():
            return
        everyone = np.arange(self.clients)
        for step in range(self.steps):
            when = np.full(self.clients, step)
            wanted = self.drifting.shares(everyone, when)[:, None, :]
            domains = self.drifting.domain_shares(everyone, when)
            if domains is not None:
                wanted = wanted * domains[..., None]
            short = np.argwhere((wanted > 0).any(axis=0) & (counts == 0))
            if len(short):
                domain, label = short[0].tolist()
                where = "" if domains is None else f" in domain {domain}"
                raise SpecError(
                    f"class {label}{where} is to come at step {step}, and the pool of the streams "
                    "has no sample of it; lower `source` or `held_out`, or take another `pool`"
                )

    @cached_property
    def changes(self) -> Mapping[int, Mapping[str, int]]:
        """By step, how many clients' streams begin to move another way there, by what moves."""
        counts: dict[int, dict[str, int]] = {}
        everyone = np.arange(self.clients)
        for step in range(1, self.steps):
            changed = self.drifting.changed(everyone, np.full(self.clients, step))
            at = {name: int(which.sum()) for name, which in changed.items() if which.any()}
            if at:
                counts[step] = at
        return counts

    def _classes(self, clients: Ints, steps: Ints) -> Ints:
        shares = self.drifting.shares(clients, steps)
        which = self.seed.stream("stream classes").uniform(clients, steps, self.size)
        return _drawn(shares, which)

    @cached_property
    def _chosen(self) -> bool:
        """Whether a drift says which samples come."""
        courses = self.drifting.courses.values()
        return any(isinstance(course, LabelCourse | DomainCourse) for course in courses)

    @property
    def _classes_count(self) -> int:
        return len(self.drifting.prior)

    @cached_property
    def _cells(self) -> tuple[Ints, Ints, Ints]:
        """Rows by class, and by domain where a drift is about them.

        And where each cell begins, and how many rows it has.
        """
        numbers, count = self.labels, self._classes_count
        courses = self.drifting.courses.values()
        if self.domains is not None and any(isinstance(c, DomainCourse) for c in courses):
            numbers = numbers + count * self.domains
            count *= int(self.domains.max()) + 1
        counts = np.bincount(numbers, minlength=count)
        return np.argsort(numbers, kind="stable"), np.cumsum(counts) - counts, counts


def _drawn(shares: Floats, uniform: Floats) -> Ints:
    """Numbers drawn by shares (k, m) with uniform numbers (k, n), shape (k, n)."""
    edges = np.cumsum(shares, axis=1)
    edges /= edges[:, -1:]
    drawn: Ints = (uniform[:, :, None] >= edges[:, None, :-1]).sum(axis=2)
    return drawn


def _anyhow(cells: Ints, uniform: Floats, counts: Ints) -> Ints:
    """A number below the count of each cell (k, n), with replacement, shape (k, n)."""
    picked: Ints = (uniform * counts[cells]).astype(np.int64)
    return picked


def _distinct(cells: Ints, uniform: Floats, counts: Ints) -> Ints:
    """As `_anyhow`, but without replacement in a row; with, of a cell that is asked for too often.

    Floyd's way: of the i-th of s picks from m, the last m - s + i + 1 are not yet to be had, and
    the newest of them is taken for one that is there already.
    """
    clients, n = cells.shape
    who, met = np.arange(clients), np.zeros((clients, len(counts)), dtype=np.int64)
    nth, picked = np.empty_like(cells), np.empty_like(cells)
    for j in range(n):
        nth[:, j] = met[who, cells[:, j]]
        met[who, cells[:, j]] += 1
    asked, room = np.take_along_axis(met, cells, axis=1), counts[cells]
    enough = asked <= room
    last = np.where(enough, room - asked + nth, room - 1)
    for j in range(n):
        drawn = (uniform[:, j] * (last[:, j] + 1)).astype(np.int64)
        same = (cells[:, :j] == cells[:, j, None]) & (picked[:, :j] == drawn[:, None])
        picked[:, j] = np.where(same.any(axis=1) & enough[:, j], last[:, j], drawn)
    return picked

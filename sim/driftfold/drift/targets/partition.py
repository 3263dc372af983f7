"""Shares of the classes in the parts of a divided pool."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Interval

from driftfold.arrays import Floats, Ints
from driftfold.data.log_gamma import log_gamma
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.errors import CapabilityError, SpecError
from driftfold.registry import register

_ATTEMPTS = 1000


@register("partition")
@dataclass(frozen=True)
class Partition(LabelTarget):
    """pi_i is the histogram of what client i gets when the pool is divided with label skew.

    Class by class, shares of the clients are drawn from Dirichlet(alpha, ..., alpha); who holds 1/N
    of the pool already gets no more of later classes; all is drawn again until everybody has
    `minimum` samples. Counted is a random part `kept` of a client's samples. Source of the
    division: Yurochkin et al., "Bayesian nonparametric federated learning of neural networks"
    (2019), in the form that Fed-ADE (2026) uses.

    Attributes
    ----------
    alpha
        Concentration.
    minimum
        Least samples of a client.
    kept
        Part of a client's samples that is counted.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=3, steps=100, seconds=60.0, seed=Seed(1))
    >>> pool = Pool(2, prior=np.full(2, 0.5), labels=np.arange(100) % 2)
    >>> Partition(alpha=0.5).shares(timeline, pool).round(2)
    array([[0.22, 0.78],
           [1.  , 0.  ],
           [0.42, 0.58]])
    """

    alpha: Annotated[float, Gt(0)] = 0.1
    minimum: Annotated[int, Ge(1)] = 6
    kept: Annotated[float, Interval(gt=0, le=1)] = 0.8

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K).

        Raises `CapabilityError` when the pool has no labels, `SpecError` when no division is found.
        """
        if pool.labels is None:
            raise CapabilityError(
                "label target 'partition' divides a pool by its labels, but this pool has none; "
                "choose target 'dirichlet'"
            )
        held = self._divided(timeline, np.bincount(pool.labels, minlength=pool.classes))
        counted = np.array([self._counted(timeline, i, row) for i, row in enumerate(held)])
        shares: Floats = counted / counted.sum(axis=1, keepdims=True)
        return shares

    def _divided(self, timeline: Timeline, available: Ints) -> Ints:
        """Samples of each class for each client, shape (N, K)."""
        clients, classes = timeline.clients, len(available)
        if available.sum() < clients * self.minimum:
            raise SpecError(
                f"label target 'partition' got {available.sum()} samples for {clients} clients "
                f"with {self.minimum} or more each; choose fewer clients, a smaller minimum, or "
                "target 'dirichlet'"
            )
        for attempt in range(_ATTEMPTS):
            draws = timeline.stream(f"division.{attempt}")
            logs = log_gamma(draws, self.alpha, classes, clients)
            held = np.zeros((clients, classes), dtype=np.int64)
            for label, count in enumerate(available):
                wants = np.where(held.sum(axis=1) < available.sum() / clients, logs[label], -np.inf)
                weights = np.exp(wants - wants.max())
                cuts = np.cumsum(weights / weights.sum())[:-1] * count
                held[:, label] = np.diff(cuts.astype(np.int64), prepend=0, append=count)
            if held.sum(axis=1).min() >= self.minimum:
                return held
        raise SpecError(
            f"label target 'partition' found no division of {available.sum()} samples among "
            f"{clients} clients with alpha = {self.alpha} and {self.minimum} samples or more each "
            f"in {_ATTEMPTS} attempts; choose a greater alpha, a smaller minimum, fewer clients, "
            "or target 'dirichlet'"
        )

    def _counted(self, timeline: Timeline, client: int, held: Ints) -> Ints:
        """Samples of each class in a random part of a client's, shape (K,)."""
        size = int(held.sum())
        part = max(1, int(self.kept * size))
        chosen = timeline.stream("counted").subsets(client, 0, size, part)
        upper = np.cumsum(held)
        return np.bincount(np.searchsorted(upper, chosen, side="right"), minlength=len(held))

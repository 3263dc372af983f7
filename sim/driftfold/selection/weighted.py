"""Some clients rather than others."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.registry import register
from driftfold.selection.base import STREAM, Free, Selection
from driftfold.selection.candidates import accepted
from driftfold.trees import node


@node
class Odds:
    """Each client's weight as a share of the largest, shape (N,)."""

    share: Floats


@register("weighted")
@dataclass(frozen=True)
class WeightedSelection(Selection[Odds]):
    """Clients are drawn one after the other, each with a probability in proportion to its weight.

    Without replacement, among those of the pool that are left: successive sampling, as in
    Efraimidis and Spirakis: "Weighted random sampling with a reservoir", 2006. Clients of
    weight 0 come last.

    Attributes
    ----------
    by
        The weight: the client's number of "samples", or its "importance" in the objective.
    """

    by: Literal["samples", "importance"] = "samples"

    def begin(self, fleet: Fleet) -> Odds:
        """Look up the weights."""
        weights = np.asarray(getattr(fleet, self.by), dtype=np.float64)
        return Odds(weights / (weights.max() or 1.0))

    def choose(
        self, state: Odds, fleet: Fleet, pool: Ints, k: int, dispatch: int
    ) -> tuple[Ints, Odds]:
        """Choose the k clients whose exponential clocks of rate w_i ring first."""
        if k >= len(pool):
            return pool, state
        u = fleet.seed.stream(STREAM).uniform(pool, dispatch, 1)[:, 0]
        with np.errstate(divide="ignore"):
            rings = -np.log1p(-u) / state.share[pool]
        rings[np.isnan(rings)] = np.inf
        return np.sort(pool[np.argsort(rings, kind="stable")[:k]]), state

    def find(
        self, state: Odds, fleet: Fleet, free: Free, k: int, dispatch: int
    ) -> tuple[Ints, Odds]:
        """Choose among random candidates, of which each is taken with its share as probability."""
        return accepted(fleet, free, k, dispatch, state.share), state

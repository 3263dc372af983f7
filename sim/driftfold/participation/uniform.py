"""Uniform sampling of a fixed number of clients."""

import math
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Ge, Interval

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.registry import register
from driftfold.rng import Stream


@final
class RandomSubset(Attendance):
    """Each dispatch is answered by one uniformly drawn subset of s of the N clients."""

    def __init__(self, size: int, chosen: int, draws: Stream) -> None:
        self.size = size
        self.chosen = chosen
        self.draws = draws
        # Clients of one dispatch are often asked one by one, and a subset costs O(N) to draw.
        self._latest: tuple[int, Bools] | None = None

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        """Whether each client belongs to the subset of this dispatch, shape (k,)."""
        if self._latest is None or self._latest[0] != dispatch:
            members = np.zeros(self.size, dtype=bool)
            members[self.draws.subsets(np.zeros(1, np.int64), dispatch, self.size, self.chosen)] = (
                True
            )
            self._latest = dispatch, members
        return self._latest[1][clients]

    def probability(self, clients: Ints) -> Floats:
        """Return s / N for each client, shape (k,)."""
        return np.full(len(clients), self.chosen / self.size)


@register("uniform")
@dataclass(frozen=True)
class Uniform(Participation):
    """Each dispatch is answered by s of the N clients, drawn uniformly without replacement.

    Source: RFedAGS, uniform sampling (the authors' "scheme I"), s = ceil(rho N).

    Attributes
    ----------
    rho
        Share of the clients that answers; s = ceil(rho N).
    size
        Number of clients s that answers. Give either `rho` or `size`.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(10, 5), importance=np.full(10, 0.1))
    >>> attendance = Uniform(rho=0.3).attend(fleet)
    >>> [int(attendance.responds(np.arange(10), t).sum()) for t in range(4)]
    [3, 3, 3, 3]
    """

    rho: Annotated[float, Interval(gt=0, le=1)] | None = None
    size: Annotated[int, Ge(1)] | None = None

    knows_probability = True

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when s does not fit the fleet."""
        draws = fleet.seed.stream("participation.subset")
        return RandomSubset(fleet.size, self._chosen(fleet.size), draws)

    def _chosen(self, clients: int) -> int:
        if (self.rho is None) == (self.size is None):
            raise SpecError(
                f"participation 'uniform' got rho = {self.rho} and size = {self.size}; give "
                "exactly one: rho (a share of the clients) or size (a number of clients)"
            )
        if self.size is not None:
            chosen = self.size
        else:
            assert self.rho is not None
            # 0.1 * 30 exceeds 3 by a rounding error, which must not count as a fourth client.
            chosen = math.ceil(round(self.rho * clients, 9))
        if not 1 <= chosen <= clients:
            raise SpecError(
                f"participation 'uniform' would draw {chosen} of {clients} clients; choose rho in "
                f"(0, 1] or size from 1 to {clients}"
            )
        return chosen

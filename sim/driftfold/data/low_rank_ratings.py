"""Synthetic entries of a matrix of low rank."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.data.magnitude import check_magnitude
from driftfold.data.ratings import Ratings, RatingSource, hold_out, ratings_of
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Seed


@register("synthetic_low_rank")
@dataclass(frozen=True)
class LowRankRatings(RatingSource):
    """Entries of X = A B^T + noise at places drawn uniformly without replacement.

    A (items, rank) and B (users, rank) are standard normal; `oversampling` times the degrees of
    freedom r (m + n - r) of the matrix are known. The defaults are the synthetic completion
    problem of the RFedAGS experiments (arXiv 2409.07223): 65,850 entries of 200 x 2,000.

    Attributes
    ----------
    items
        Rows m of the matrix.
    users
        Columns n of the matrix.
    rank
        Rank r, at most m and n.
    oversampling
        Known entries as a multiple of r (m + n - r).
    noise
        Standard deviation of what is added to each known entry.
    held_out
        Share of each user's entries that is held out for testing.

    Examples
    --------
    >>> ratings = LowRankRatings(items=8, users=10, rank=2, oversampling=1.5).load(Seed(1))
    >>> len(ratings.value), ratings.truth[0].shape, ratings.truth[1].shape
    (48, (8, 2), (10, 2))
    """

    items: Annotated[int, Gt(0)] = 200
    users: Annotated[int, Gt(0)] = 2000
    rank: Annotated[int, Gt(0)] = 5
    oversampling: Annotated[float, Gt(0)] = 6.0
    noise: Annotated[float, Ge(0)] = 1e-6
    held_out: Annotated[float, Ge(0), Lt(1)] = 0.0

    def footprint(self) -> int:
        """Bytes of factors and entries, so that absurd sizes are refused before they are drawn."""
        entries = int(min(max(self._wanted, 0.0), 1e18))  # any size at all may be asked for
        return 8 * (self.rank + 4) * (self.items + self.users) + 40 * entries

    @property
    def _wanted(self) -> float:
        return self.oversampling * self.rank * (self.items + self.users - self.rank)

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is told by name
    def load(self, seed: Seed) -> Ratings:
        """Generate the entries; raises `SpecError` when the sizes do not fit together."""
        places, known = self.items * self.users, round(self._wanted)
        if self.rank > min(self.items, self.users):
            raise SpecError(
                f"a matrix of {self.items} x {self.users} has no rank {self.rank}; lower the rank"
            )
        if not 1 <= known <= places or places > 2**32:
            raise SpecError(
                f"{known:,} entries of {self.items} x {self.users} are wanted; lower "
                "'oversampling', or choose between 1 and 2^32 places that hold them"
            )
        a = seed.stream("item factors").normal(np.arange(self.items), 0, self.rank)
        b = seed.stream("user factors").normal(np.arange(self.users), 0, self.rank)
        where = np.sort(seed.stream("known entries").subsets(0, 0, places, known))
        user, item = np.divmod(where, self.items)
        noise = seed.stream("noise of ratings").normal(0, 0, known)
        value = np.einsum("kr,kr->k", a[item], b[user]) + self.noise * noise
        check_magnitude(value, "the entries", noise=self.noise)
        ratings = ratings_of(user, item, value, self.users, self.items, truth=(a, b))
        return hold_out(ratings, self.held_out, seed)

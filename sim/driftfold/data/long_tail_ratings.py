"""Synthetic ratings that look like those of films."""

from dataclasses import dataclass
from math import ceil, exp
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.arrays import Floats, Ints
from driftfold.data.ratings import Ratings, RatingSource, hold_out, ratings_of, standardised
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Seed

_CHUNK = 256  # users at a time


@register("synthetic_long_tail")
@dataclass(frozen=True)
class LongTailRatings(RatingSource):
    """Stars 1 to 5: taste of low rank, biases of users and items, noise; few items have many.

    User j gives ``fewest`` ratings and more, a log-normal number; which items, is drawn without
    replacement with probability in proportion to (1 + rank of the item)^-tail. A rating is 3.6
    + user's bias (sd 0.45) + item's bias (sd 0.45) + taste (sd ``taste``) + noise, rounded and cut
    to 1 .. 5. Offline stand-in for MovieLens: call results synthetic.

    Attributes
    ----------
    users, items
        Shape of the matrix.
    rank
        Rank of the taste.
    taste
        Standard deviation of the taste, in stars.
    noise
        Standard deviation of the noise, in stars.
    tail
        Exponent of the items' popularity; 0 makes them equal.
    fewest, typical
        Least and median number of ratings of a user.
    spread
        Standard deviation of the logarithm of the number of ratings beyond the least.
    held_out
        Share of each user's ratings that is held out for testing.
    standardise
        Whether ratings become z-scores over all of them.

    Examples
    --------
    >>> ratings = LongTailRatings(users=30, items=50, fewest=5, typical=9).load(Seed(1))
    >>> bool(np.diff(ratings.starts).min() >= 5), bool(abs(ratings.value.mean()) < 1e-12)
    (True, True)
    """

    users: Annotated[int, Gt(0)] = 943
    items: Annotated[int, Gt(0)] = 1682
    rank: Annotated[int, Gt(0)] = 5
    taste: Annotated[float, Ge(0)] = 0.6
    noise: Annotated[float, Ge(0)] = 0.7
    tail: Annotated[float, Ge(0)] = 0.8
    fewest: Annotated[int, Gt(0)] = 20
    typical: Annotated[int, Gt(0)] = 65
    spread: Annotated[float, Ge(0)] = 1.2
    held_out: Annotated[float, Ge(0), Lt(1)] = 0.2
    standardise: bool = True

    def footprint(self) -> int:
        """About the bytes of the ratings, to refuse absurd sizes before they are drawn."""
        growth = ceil(exp(min(self.spread, 37.0) ** 2 / 2))  # the mean of exp(spread z), z normal
        each = min(self.typical * growth + self.fewest, self.items)
        return 40 * self.users * each + 8 * _CHUNK * self.items

    def load(self, seed: Seed) -> Ratings:
        """Generate the ratings; raises `SpecError` when a user cannot rate as many items."""
        if not self.fewest < self.typical <= self.items:
            raise SpecError(
                f"users rate {self.fewest} items at least and {self.typical} typically, of "
                f"{self.items}; wanted fewest < typical <= items"
            )
        user, item = self._places(seed)
        p = seed.stream("user factors").normal(np.arange(self.users), 0, self.rank + 1)
        q = seed.stream("item factors").normal(np.arange(self.items), 0, self.rank + 1)
        taste = np.einsum("kr,kr->k", p[user, 1:], q[item, 1:]) * (self.taste / self.rank**0.5)
        noise = self.noise * seed.stream("noise of ratings").normal(user, item, 1)[:, 0]
        raw = 3.6 + 0.45 * (p[user, 0] + q[item, 0]) + taste + noise
        stars = np.clip(np.rint(raw), 1, 5)
        ratings = ratings_of(user, item, stars, self.users, self.items)
        return hold_out(standardised(ratings) if self.standardise else ratings, self.held_out, seed)

    def _places(self, seed: Seed) -> tuple[Ints, Ints]:
        """User and item of each rating.

        The smallest of exponential variates divided by weights are a draw without replacement in
        proportion to the weights (Efraimidis and Spirakis 2006).
        """
        ids = np.arange(self.users)
        extra = self.spread * seed.stream("activity").normal(ids, 0, 1)[:, 0]
        many = self.fewest + np.rint((self.typical - self.fewest) * np.exp(extra))
        counts = np.minimum(many, self.items).astype(np.int64)
        popularity = (1.0 + np.arange(self.items)) ** -self.tail
        chosen = list[Ints]()
        for start in range(0, self.users, _CHUNK):
            some = ids[start : start + _CHUNK]
            lots: Floats = -np.log1p(-seed.stream("choice").uniform(some, 0, self.items))
            with np.errstate(divide="ignore"):  # an item that nobody takes comes last
                order = np.argsort(lots / popularity, axis=1, kind="stable")
            chosen += [row[:n] for row, n in zip(order, counts[some].tolist(), strict=True)]
        return np.repeat(ids, counts), np.concatenate(chosen)

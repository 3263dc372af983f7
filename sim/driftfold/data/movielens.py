"""Ratings of films."""

from dataclasses import dataclass
from io import BytesIO
from typing import Annotated

import numpy as np
from annotated_types import Ge, Lt

from driftfold.arrays import Array
from driftfold.data.catalogue import read_set
from driftfold.data.ratings import Ratings, RatingSource, hold_out, ratings_of, standardised
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

STARS_1M = (56_174, 107_557, 261_197, 348_971, 226_310)
"""Ratings of 1, 2, ... 5 stars in MovieLens-1M."""


@register("movielens_100k")
@dataclass(frozen=True)
class MovieLens100K(RatingSource):
    """100,000 ratings, 1 to 5 stars, of 1,682 films (items) by 943 users, each of at least 20.

    Harper and Konstan, "The MovieLens datasets: history and context" (2015).
    ``driftfold data get movielens_100k`` fetches them.

    Attributes
    ----------
    held_out
        Share of each user's ratings that is held out for testing.
    standardise
        Whether ratings become z-scores over all of them, as in the RFedAGS experiments.
    folder
        Where ml-100k.inter or u.data lies; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> MovieLens100K(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: movielens_100k is not in nowhere: no ml-100k.inter there; run ...
    """

    held_out: Annotated[float, Ge(0), Lt(1)] = 0.2
    standardise: bool = True
    folder: str | None = None

    def load(self, seed: Seed) -> Ratings:
        """Read the ratings after checking them; the seed says which are held out."""
        found = read_set("movielens_100k", self.folder)
        (name, content), *_ = found.files.items()
        skip = 1 if found.form == "inter" else 0
        table = parse_ratings(content, b"\t", skip, found.places[name])
        return _divided(table, (943, 1682), self.held_out, self.standardise, seed)


@register("movielens_1m")
@dataclass(frozen=True)
class MovieLens1M(RatingSource):
    """1,000,209 ratings, 1 to 5 stars, by 6,040 users, of 3,706 of 3,952 film numbers (items).

    Harper and Konstan, "The MovieLens datasets: history and context" (2015). Its terms forbid
    passing it on, so nothing fetches it: ``driftfold data list`` says how to obtain it.

    Attributes
    ----------
    held_out
        Share of each user's ratings that is held out for testing.
    standardise
        Whether ratings become z-scores over all of them, as in the RFedAGS experiments.
    folder
        Where ratings.dat lies; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> MovieLens1M(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: movielens_1m is not in nowhere: no ratings.dat there; put ...
    """

    held_out: Annotated[float, Ge(0), Lt(1)] = 0.2
    standardise: bool = True
    folder: str | None = None

    def load(self, seed: Seed) -> Ratings:
        """Read the ratings after checking them; the seed says which are held out."""
        found = read_set("movielens_1m", self.folder)
        (name, content), *_ = found.files.items()
        table = parse_ratings(content, b"::", 0, found.places[name])
        counted = tuple(np.bincount(table[:, 2], minlength=6)[1:].tolist())
        if counted != STARS_1M:
            raise DataError(
                f"{found.places[name]} has {counted} ratings of 1 to 5 stars, wanted {STARS_1M}: "
                "it was changed; obtain it again"
            )
        return _divided(table, (6040, 3952), self.held_out, self.standardise, seed)


def parse_ratings(content: bytes, separator: bytes, skip: int, where: object) -> Array:
    r"""Whole numbers (user, item, stars) of each line, shape (n, 3); ids from 1, stars 1 to 5.

    >>> parse_ratings(b"1::1193::5::978300760\n2::661::3::978302109\n", b"::", 0, "here").tolist()
    [[1, 1193, 5], [2, 661, 3]]
    """
    try:
        text = BytesIO(content.replace(separator, b"\t"))
        table = np.loadtxt(
            text, delimiter="\t", skiprows=skip, usecols=(0, 1, 2), ndmin=2, encoding="ascii"
        )
    except ValueError as error:
        raise DataError(
            f"{where} is no table of user, item, rating and time ({error}); obtain it again"
        ) from None
    whole = table.astype(np.int64)
    if not len(whole) or not (whole == table).all() or (whole < 1).any() or (whole[:, 2] > 5).any():
        raise DataError(
            f"{where} has no lines, or lines that are no whole numbers from 1 with 1 to 5 stars; "
            "obtain it again"
        )
    return whole


def _divided(
    table: Array, shape: tuple[int, int], held_out: float, z_scores: bool, seed: Seed
) -> Ratings:
    users, items = shape
    ratings = ratings_of(table[:, 0] - 1, table[:, 1] - 1, table[:, 2], users, items)
    return hold_out(standardised(ratings) if z_scores else ratings, held_out, seed)

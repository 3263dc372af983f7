"""A labelled set cut into what a model is made of and what streams are drawn from."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.data.shuffle import shuffled
from driftfold.errors import SpecError
from driftfold.rng import Seed


@dataclass(frozen=True)
class Split:
    """Row numbers without overlap.

    Attributes
    ----------
    source
        What the model is trained on before deployment.
    held_out
        Labelled rows that the model has not seen: for its confusion matrix, and for calibration.
    pool
        What the clients' streams are drawn from.
    """

    source: Ints
    held_out: Ints
    pool: Ints


def split(y: Ints, source: int, held_out: int, shares: Floats, seed: Seed) -> Split:
    """Draw the parts: `source` rows with class `shares` (K,), `held_out` as the classes are, rest.

    Rows of a class are taken in random order, held-out rows first, so that these do not depend on
    how many the source gets. Raises `SpecError` when a class has too few.

    >>> y = np.arange(100) % 2
    >>> parts = split(y, 30, 20, np.array([0.9, 0.1]), Seed(1))
    >>> np.bincount(y[parts.source]).tolist(), np.bincount(y[parts.held_out]).tolist()
    ([27, 3], [10, 10])
    >>> len(parts.pool)
    50
    """
    classes = len(shares)
    order = shuffled(seed.stream("stream split"), len(y))
    there = np.bincount(y, minlength=classes)
    held = whole_shares(there / len(y), held_out)
    wanted = whole_shares(shares, source)
    short = np.flatnonzero(held + wanted > there)
    if len(short):
        k = int(short[0])
        raise SpecError(
            f"class {k} has {there[k]} rows, but {held[k]} are to be held out and {wanted[k]} are "
            "for the source; lower `source` or `held_out`, or take another distribution of classes"
        )
    parts: list[list[Ints]] = [[], [], []]
    for k in range(classes):
        rows = order[y[order] == k]
        for part, piece in zip(parts, np.split(rows, np.cumsum([held[k], wanted[k]])), strict=True):
            part.append(piece)
    held_rows, source_rows, pool = (np.sort(np.concatenate(part)) for part in parts)
    return Split(source_rows, held_rows, pool)


def whole_shares(shares: Floats, total: int) -> Ints:
    """Return whole numbers that sum to `total`, as near to `shares` of it as may be.

    >>> whole_shares(np.array([0.5, 0.25, 0.25]), 5).tolist()
    [3, 1, 1]
    """
    exact = shares / shares.sum() * total
    counts = np.floor(exact + 1e-9).astype(np.int64)  # 0.7 * 10 is 6.999...
    rest = np.argsort(-(exact - counts), kind="stable")[: total - int(counts.sum())]
    counts[rest] += 1
    made: Ints = counts
    return made

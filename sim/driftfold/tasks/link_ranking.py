"""How well an embedding tells related nodes from others: mean rank, and mean average precision."""

import numpy as np

from driftfold.arrays import Floats
from driftfold.tasks.related import Related

_ROWS = 2**22  # distances computed at a time


def mean_rank_and_precision(points: Floats, known: Related) -> tuple[float, float]:
    """Mean rank of related nodes, and mean average precision (MAP), as Nickel and Kiela (2017).

    The rank of v for u, (u, v) related, is its place by distance from u among v and all nodes
    that u is not related to: 1 is best. Average precision of u is the mean over its related v, in
    order of distance, of the share of related nodes among those at most as far as v; nodes that
    are related to none have none.

    Parameters
    ----------
    points
        Spatial parts on the hyperboloid, shape (n, dim).
    known
        Which of the n nodes are related.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [2.0], [-0.5]])
    >>> known = np.eye(4, dtype=bool)
    >>> known[0, [1, 2]] = True
    >>> rank, precision = mean_rank_and_precision(points, Related.of_matrix(known))
    >>> rank, round(precision, 4)
    (2.0, 0.5833)
    """
    n = len(points)
    time = np.sqrt(1 + (points * points).sum(axis=-1))
    ball = points / (1 + time)[:, None]
    ranks, precisions = [], []
    for start in range(0, n, max(1, _ROWS // (n * points.shape[1]))):
        stop = min(n, start + max(1, _ROWS // (n * points.shape[1])))
        apart = ball[start:stop, None] - ball[None]
        # Grows with distance: |b_u - b_v|^2 / ((1 - |b_u|^2) (1 - |b_v|^2)), but for u's factor.
        chords = (apart * apart).sum(axis=-1) * (1 + time)
        for u in range(start, stop):
            related = known.neighbours(u)
            if len(related) == 1:
                continue
            others = np.delete(chords[u - start], related)
            own = np.sort(chords[u - start][related[related != u]])
            # How many of its own are at most as far as an unrelated node; the own are few.
            passed = np.bincount(np.searchsorted(own, others, side="right"), minlength=len(own))
            before = np.cumsum(passed)[: len(own)]  # unrelated nodes that are nearer
            ranks.append(before + 1)
            places = np.arange(1, len(own) + 1)
            precisions.append(float((places / (places + before)).mean()))
    return float(np.concatenate(ranks).mean()), float(np.mean(precisions))

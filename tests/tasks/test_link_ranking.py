import numpy as np

from driftfold.arrays import Bools, Floats
from driftfold.manifolds import Lorentz
from driftfold.rng import Seed
from driftfold.tasks.link_ranking import mean_rank_and_precision
from driftfold.tasks.related import Related


def by_definition(points: Floats, known: Bools) -> tuple[float, float]:
    """Ranks one pair at a time, precision at each related node in order of distance."""
    n, ranks, precisions = len(points), [], []
    d = Lorentz(points.shape[1]).dist(points[:, None], points[None])
    for u in range(n):
        linked = [v for v in range(n) if known[u, v] and v != u]
        ranks += [1 + sum(d[u, w] < d[u, v] for w in range(n) if not known[u, w]) for v in linked]
        if linked:
            order = sorted((w for w in range(n) if w != u), key=lambda w: d[u, w])
            at = [k for k, w in enumerate(order, start=1) if w in linked]
            precisions.append(np.mean([(i + 1) / k for i, k in enumerate(at)]))
    return float(np.mean(ranks)), float(np.mean(precisions))


def test_ranks_and_precision_are_those_of_the_definition() -> None:
    points = Lorentz(3).random_point(Seed(1).stream("nodes"), np.arange(30))
    known = np.random.default_rng(0).random((30, 30)) < 0.2
    known |= np.eye(30, dtype=bool)
    known[4] = np.arange(30) == 4  # one that is related to none
    wanted = by_definition(points, known)
    assert np.allclose(
        mean_rank_and_precision(points, Related.of_matrix(known)), wanted, rtol=1e-13
    )


def test_distances_far_out_are_told_apart() -> None:
    """At distance 15, where the textbook's -<x, y> has no digit left for distances of 1e-3."""
    space = Lorentz(2)
    centre = np.sinh(15) * np.array([0.6, 0.8])
    away = np.array([0.0, 1e-3, 2e-3, 3e-3])
    points = space.exp(centre, away[:, None] * np.array([[0.0, 1.0]]))
    known = np.eye(4, dtype=bool)
    known[0, 1] = True
    assert mean_rank_and_precision(points, Related.of_matrix(known)) == (1.0, 1.0)
    known[0] = [True, False, False, True]
    assert mean_rank_and_precision(points, Related.of_matrix(known)) == (3.0, 1 / 3)

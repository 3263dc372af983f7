"""Complete linkage of models by how badly they do on each other's data."""

from itertools import combinations

import numpy as np

from driftfold.arrays import Bools, Floats, Ints


def joined(losses: Floats, has: Ints, eligible: Bools, delta: float) -> list[Ints]:
    """Groups of two and more models that are to be joined.

    Parameters
    ----------
    losses
        Of each model on each client's data, shape (k, M).
    has
        The client's own model, shape (k,).
    eligible
        Which models may be joined, shape (M,); those that no client here has may not.
    delta
        The largest distance within a group.

    Examples
    --------
    >>> losses = np.array([[0.1, 0.3, 2.0], [0.2, 0.1, 1.0], [2.0, 2.0, 0.1]])
    >>> joined(losses, np.arange(3), np.ones(3, dtype=bool), delta=0.5)
    [array([0, 1])]
    """
    models = [m for m in np.flatnonzero(eligible) if (has == m).any()]
    if len(models) < 2:
        return []
    # mean[j, i]: model i on the data of those who have j
    mean = np.stack([losses[has == j].mean(axis=0) for j in models])[:, models]
    worse = mean - np.diag(mean)[:, None]
    apart = np.maximum(np.maximum(worse, worse.T), 0)
    groups = [[m] for m in range(len(models))]
    while len(groups) > 1:
        far = np.full((len(groups), len(groups)), np.inf)
        for i, j in combinations(range(len(groups)), 2):
            far[i, j] = apart[np.ix_(groups[i], groups[j])].max()
        one, other = divmod(int(far.argmin()), len(groups))
        if not far[one, other] < delta:
            break
        groups[one] += groups.pop(other)
    return [np.array(models)[sorted(group)] for group in groups if len(group) > 1]

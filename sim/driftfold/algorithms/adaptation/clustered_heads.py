"""Heads and prototypes averaged class by class, among clients that are alike in the class."""

import numpy as np

from driftfold.algorithms.adaptation.dbscan import NOISE, dbscan
from driftfold.algorithms.adaptation.madd import LEAST, cosines, madd
from driftfold.arrays import Array, Bools


def clustered(
    rows: Array, compared: Array, means: Array, there: Bools, eps: float, least: int
) -> tuple[Array, Array, Bools, float]:
    """Rows (c, K, m), mean features (c, K, d), and which are known (c, K), of c clients.

    In each class clients are clustered by `compared` (c, K, m); those in a cluster of two or more
    get the mean of their rows, and the mean of the prototypes of those that have the class, `there`
    (c, K). Others keep their own. Also the mean number of clusters of a class is told. Nothing that
    is given is changed: sums are of what clients sent, not of what others were given meanwhile.

    >>> rows = np.array([[[1.0, 0.0]], [[0.9, 0.1]], [[0.0, 1.0]], [[0.0, 0.9]]])
    >>> means = np.arange(4.0).reshape(4, 1, 1)
    >>> there = np.array([[True], [False], [True], [True]])
    >>> made, prototypes, known, clusters = clustered(rows, rows, means, there, 0.2, 1)
    >>> made[:, 0].round(2).tolist(), clusters
    ([[0.95, 0.05], [0.95, 0.05], [0.0, 0.95], [0.0, 0.95]], 2.0)
    >>> prototypes[:, 0, 0].tolist(), known[:, 0].tolist()
    ([0.0, 0.0, 2.5, 2.5], [True, True, True, True])
    """
    made, prototypes, known = rows.copy(), means.copy(), there.copy()
    c, classes = there.shape
    if c < LEAST:
        return made, prototypes, known, float(c)
    count = 0
    for k in range(classes):
        labels = dbscan(madd(cosines(compared[:, k])), eps, least)
        for number in range(labels.max() + 1):
            members = np.flatnonzero(labels == number)
            count += 1
            if len(members) < 2:
                continue
            made[members, k] = rows[members, k].mean(axis=0)
            have = members[there[members, k]]
            if len(have):
                prototypes[members, k] = means[have, k].mean(axis=0)
                known[members, k] = True
        count += int((labels == NOISE).sum())
    return made, prototypes, known, count / classes

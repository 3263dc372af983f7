"""DBSCAN: clusters of any shape, of points that are dense (Ester et al., KDD 1996)."""

import numpy as np

from driftfold.arrays import Floats, Ints

NOISE = -1
"""Number of those that are in no cluster."""


def dbscan(distances: Floats, eps: float, least: int) -> Ints:
    """Cluster of each of m points with distances (m, m), shape (m,): 0, 1, ..., or -1 for noise.

    A point with `least` points or more within `eps`, itself included, is a core; cores within eps
    of each other are of one cluster, and so are points within eps of a core, of the first such
    cluster. Clusters are numbered by their first core.

    >>> x = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 9.0])
    >>> dbscan(np.abs(x[:, None] - x), eps=0.15, least=2)
    array([ 0,  0,  0,  1,  1, -1])
    """
    near = distances <= eps
    core = near.sum(axis=1) >= least
    labels = np.full(len(distances), NOISE, dtype=np.int64)
    count = 0
    for first in np.flatnonzero(core):
        if labels[first] != NOISE:
            continue
        labels[first] = count
        waiting = [first]
        while waiting:
            met = near[waiting.pop()] & (labels == NOISE)
            labels[met] = count
            waiting.extend(np.flatnonzero(met & core))
        count += 1
    return labels

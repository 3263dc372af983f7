"""As many samples of each class that is there."""

import numpy as np

from driftfold.arrays import Floats, Ints


def balanced_weights(labels: Ints, keys: Floats, classes: int, most: int) -> Floats:
    """Weights (k, n) of a mean over as many samples of each class of a client.

    They are m = min(most, the smallest class) of each class that is there, of labels (k, n): those
    with the smallest of the random numbers `keys` (k, n). A class that is not there is no smallest
    class: nothing would be left.

    >>> labels = np.array([[0, 0, 0, 2, 2]])
    >>> balanced_weights(labels, np.array([[0.1, 0.9, 0.2, 0.5, 0.4]]), 3, most=5)
    array([[0.25, 0.  , 0.25, 0.25, 0.25]])
    """
    counts = (labels[:, None, :] == np.arange(classes)[:, None]).sum(axis=2)
    smallest = np.where(counts > 0, counts, labels.shape[1]).min(axis=1)
    size = np.minimum(smallest, most)
    alike = labels[:, :, None] == labels[:, None, :]
    n = labels.shape[1]
    earlier = np.arange(n)[:, None] > np.arange(n)
    less = (keys[:, :, None] > keys[:, None, :]) | (
        (keys[:, :, None] == keys[:, None, :]) & earlier
    )
    rank = (alike & less).sum(axis=2)
    taken = rank < size[:, None]
    weights: Floats = taken / taken.sum(axis=1, keepdims=True)
    return weights

"""Prototypes: the mean feature of each class, and a loss that pulls features to them."""

import numpy as np

from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.lanes import in_whole_vectors
from driftfold.nets.losses import cross_entropy

_TINY = 1e-12


def class_means(features: Array, labels: Ints, classes: int) -> tuple[Array, Ints]:
    """Means (k, K, d) of features (k, n, d) by class (k, n), and how many of each, (k, K).

    A class that is not there has the mean 0.

    >>> means, counts = class_means(np.array([[[1.0], [3.0], [5.0]]]), np.array([[0, 0, 2]]), 3)
    >>> means[..., 0].tolist(), counts.tolist()
    ([[2.0, 0.0, 5.0]], [[2, 0, 1]])
    """
    member = labels[:, None, :] == np.arange(classes)[:, None]
    counts = member.sum(axis=2)
    sums = np.matmul(member.astype(features.dtype), features)
    means: Array = sums / np.maximum(counts, 1)[..., None].astype(features.dtype)
    return means, counts


def alignment(
    features: Array, prototypes: Array, known: Bools, labels: Ints, temperature: float
) -> tuple[Array, Array]:
    """Cross-entropy of cosines to prototypes, over a temperature; and its gradient in the features.

    Features are (k, n, d), prototypes (k, K, d), `known` (k, K) says which there are, and labels
    are (k, n). Losses (k, n) and gradients (k, n, d) are 0 where a sample's class has none, or its
    feature vanishes.

    >>> h, p = np.array([[[2.0, 0.0]]]), np.array([[[1.0, 0.0], [0.0, 1.0]]])
    >>> known, labels = np.ones((1, 2), dtype=bool), np.array([[0]])
    >>> loss, slope = alignment(h, p, known, labels, temperature=1.0)
    >>> loss.round(6).tolist(), slope.round(6).tolist()  # log(1 + 1 / e)
    ([[0.313262]], [[[0.0, 0.134471]]])
    """
    kind, features = features.dtype.type, np.ascontiguousarray(features)
    size = np.sqrt((features * features).sum(axis=-1, keepdims=True))
    there = size > _TINY
    units = features / np.where(there, size, kind(1))
    lengths = np.sqrt((prototypes * prototypes).sum(axis=-1, keepdims=True))
    toward = prototypes / np.maximum(lengths, kind(_TINY))
    cos = np.matmul(units, toward.swapaxes(-1, -2))
    masked = np.where(known[:, None, :], cos / kind(temperature), kind(-1e30))
    loss, slope = cross_entropy(masked, labels)
    counts = there[..., 0] & np.take_along_axis(known, labels, axis=-1)
    slope = np.ascontiguousarray(np.where(counts[..., None], slope, 0)) / kind(temperature)
    pull = np.matmul(slope, toward)
    radial = (slope * cos).sum(axis=-1, keepdims=True)
    gradient: Array = (pull - radial * units) / np.where(there, size, kind(1))
    return np.where(counts, loss, 0), gradient


def spread_of_classes(labels: Ints, classes: int) -> Floats:
    """Entropy of the shares of classes, shape (k,), of (k, n); classes that are not there add 0.

    >>> spread_of_classes(np.array([[0, 0, 1, 1], [2, 2, 2, 2]]), 5).round(6)
    array([0.693147, 0.      ])
    """
    counts = (labels[:, None, :] == np.arange(classes)[:, None]).sum(axis=2)
    p = counts / labels.shape[1]
    logs = in_whole_vectors(np.log, np.where(counts > 0, p, 1.0))
    made: Floats = 0.0 - (p * logs).sum(axis=1)
    return made

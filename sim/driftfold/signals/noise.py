"""What signals say where nothing drifts: finite batches differ."""

from typing import Any

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.signals.base import Held, Observed, Signal, Sizes
from driftfold.trees import spread

_TOGETHER = 64
"""Pairs of batches that are measured at a time."""


def noise_floor(classes: int, n: int) -> float:
    """Mean of 1 - cos of two histograms of n labels each, drawn evenly from K classes, roughly.

    (K - 1) / (n + K - 1): a histogram's expected squared length is 1/K + (1 - 1/K) / n.

    >>> round(noise_floor(10, 50), 3)
    0.153
    """
    return (classes - 1) / (n + classes - 1)


def null_values(signal: Signal[Any], held: Held, pairs: int) -> Floats:
    """S of pairs of batches that are drawn from held-out source data, shape (pairs,).

    Samples are drawn with replacement, the same whatever the signal: so signals are comparable.
    What was worked out once for these data is kept with them.

    >>> from driftfold.rng import Seed
    >>> from driftfold.signals.uncertainty import Uncertainty
    >>> said = np.eye(10)[np.arange(200) % 10]
    >>> held = Held(said, np.ones((200, 3)), batch=50, seed=Seed(1))
    >>> null_values(Uncertainty(), held, pairs=500).mean().round(2)
    np.float64(0.15)
    """
    key = f"{signal!r} {pairs}"
    if key not in held.kept:
        held.kept[key] = _null_values(signal, held, pairs)
    return held.kept[key]


def _null_values(signal: Signal[Any], held: Held, pairs: int) -> Floats:
    sizes = Sizes(held.probabilities.shape[-1], held.features.shape[-1], held)
    fresh = signal.begin(sizes)
    found = []
    for start in range(0, pairs, _TOGETHER):
        drawn = np.arange(start, min(start + _TOGETHER, pairs))
        memory = spread(fresh, len(drawn))
        for visit in range(2):
            gap = np.full(len(drawn), visit)
            s, memory = signal.measure(memory, _batches(held, drawn, visit, gap))
        found.append(s)
    return np.concatenate(found)


def _batches(held: Held, drawn: Ints, visit: int, gap: Ints) -> Observed:
    stream = held.seed.stream("batches without drift")
    count = len(held.probabilities)
    if held.weights is None:
        rows = stream.integers(drawn, visit, held.batch, count)
    else:
        edges = np.cumsum(held.weights / held.weights.sum())[:-1]
        rows = np.searchsorted(edges, stream.uniform(drawn, visit, held.batch), side="right")
    return Observed(held.probabilities[rows], held.features[rows], gap)

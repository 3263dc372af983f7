"""Batches made by hand, and signals over several of them."""

from typing import Any

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.signals import Observed, Signal, Sizes
from driftfold.trees import spread


def of_predictions(probabilities: Floats, gap: int = 1) -> Observed:
    """Predictions (k, n, K) where features do not matter."""
    k, n, _ = probabilities.shape
    return Observed(probabilities, np.ones((k, n, 2)), np.full(k, gap))


def of_features(features: Floats, gap: int = 1) -> Observed:
    """Features (k, n, d) where predictions do not matter."""
    k, n, _ = features.shape
    return Observed(np.full((k, n, 2), 0.5), features, np.full(k, gap))


def of_labels(labels: Ints, classes: int) -> Observed:
    """Certain predictions of labels (k, n)."""
    return of_predictions(np.eye(classes)[labels])


def through(signal: Signal[Any], batches: list[Observed]) -> tuple[Floats, Any]:
    """What a signal says of each batch, (steps, k), the first one being everybody's first."""
    first = batches[0]
    k, _, classes = first.probabilities.shape
    memory, told = spread(signal.begin(Sizes(classes, first.features.shape[-1])), k), []
    for t, batch in enumerate(batches):
        gap = batch.gap if t else np.zeros(k, np.int64)
        s, memory = signal.measure(
            memory, Observed(batch.probabilities, batch.features, gap, batch.progress)
        )
        told.append(s)
    return np.stack(told), memory


def between(signal: Signal[Any], before: Observed, now: Observed) -> Floats:
    """What a signal says of the second batch."""
    said: Floats = through(signal, [before, now])[0][1]
    return said

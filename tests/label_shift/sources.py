"""A source with a model that errs, and batches drawn from any shares of its classes."""

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.label_shift import SourceFacts, source_facts


def a_source(classes: int = 4, each: int = 30, seed: int = 0, soft: bool = False) -> SourceFacts:
    """Classes of Gaussian logits; the prior is not uniform."""
    labels = np.repeat(np.arange(classes), each)
    prior = np.arange(1, classes + 1) / np.arange(1, classes + 1).sum()
    return source_facts(predictions(labels, classes, seed), labels, prior, soft)


def predictions(labels: Ints, classes: int, seed: int) -> Floats:
    """Probabilities (..., K) for labels (...), about two thirds of them right."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(*labels.shape, classes)) + 1.6 * np.eye(classes)[labels]
    raised = np.exp(1.3 * logits)
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def batches(shares: Floats, n: int, seed: int) -> Floats:
    """Predictions (k, n, K) for n samples of each row of shares (k, K)."""
    rng = np.random.default_rng(seed)
    labels = np.stack([rng.choice(len(p), n, p=p) for p in shares])
    return predictions(labels, shares.shape[1], seed + 1)

"""How much signals say on digits where nothing drifts and nobody adapts (statement 10)."""

from typing import Any

import numpy as np
import pytest

from driftfold.rng import Seed
from driftfold.signals import Combined, Observed, Representation, Signal, Sizes, Uncertainty
from driftfold.softmax import softmax
from driftfold.tasks import DriftingClassification
from driftfold.trees import spread

pytestmark = pytest.mark.slow

MEASURED = {25: (0.253, 0.238, 0.130), 50: (0.146, 0.136, 0.074), 200: (0.043, 0.039, 0.021)}
"""By n: S_unc of named classes, of mean probabilities, and S, of another program once."""

SIGNALS: list[Signal[Any]] = [
    Uncertainty(hard=True),
    Uncertainty(),
    Combined((Uncertainty(), Representation())),
    Representation(),
]


def floors(n: int) -> list[float]:
    """Means over 100 clients and 7 pairs of batches."""
    problem = DriftingClassification(clients=100, batch=n, steps=8).build(Seed(1))
    model, everyone = problem.model, np.arange(100)
    memories = [spread(s.begin(Sizes(model.classes, model.features)), 100) for s in SIGNALS]
    told: list[list[float]] = [[] for _ in SIGNALS]
    for step in range(8):
        view = problem.view(everyone, everyone * 0, step * problem.period)
        made = model.forward(problem.source.start, view.inputs)
        seen = Observed(softmax(made.logits), made.features, np.full(100, min(step, 1)))
        for i, signal in enumerate(SIGNALS):
            s, memories[i] = signal.measure(memories[i], seen)
            told[i] += [float(s.mean())] if step else []
    return [float(np.mean(each)) for each in told]


def test_the_floor_of_digits() -> None:
    """To a tenth of what another net of this size gave: features differ from net to net.

    Mean probabilities hardly lower it, and it falls like 1 / n.
    """
    found = {n: floors(n) for n in MEASURED}
    for n, expected in MEASURED.items():
        np.testing.assert_allclose(found[n][:3], expected, rtol=0.1)
        assert 0.85 < found[n][1] / found[n][0] < 1
        assert 0 < found[n][3] < 0.1 * found[n][1] * 2
    fall = found[25][0] / found[200][0]
    assert 5 < fall < 8

"""Equal shares: a control."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import register


@register("uniform")
@dataclass(frozen=True)
class Uniform(LabelEstimate[None]):
    """1/K, whatever is predicted, and before.

    >>> from driftfold.label_shift.source import source_facts
    >>> source = source_facts(np.eye(2)[[0, 0, 0, 1]], np.array([0, 0, 0, 1]))
    >>> Uniform().estimate(None, source, np.full((1, 5, 2), 0.5))[0]
    array([[0.5, 0.5]])
    """

    def begin(self, source: SourceFacts) -> None:
        """Nothing to remember."""

    def belief(self, memory: Any, source: SourceFacts, clients: int) -> Floats:
        """Return 1/K."""
        return np.full((clients, source.classes), 1.0 / source.classes)

    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, None]:
        """Return 1/K."""
        return self.belief(memory, source, len(predictions)), None

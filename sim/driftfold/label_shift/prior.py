"""The source's own shares: a control."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import register


@register("prior")
@dataclass(frozen=True)
class Prior(LabelEstimate[None]):
    """pi_0, whatever is predicted: what a method gains without any estimate.

    >>> from driftfold.label_shift.source import source_facts
    >>> source = source_facts(np.eye(2)[[0, 0, 0, 1]], np.array([0, 0, 0, 1]))
    >>> Prior().estimate(None, source, np.full((1, 5, 2), 0.5))[0]
    array([[0.75, 0.25]])
    """

    def begin(self, source: SourceFacts) -> None:
        """Nothing to remember."""

    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, None]:
        """Return pi_0."""
        return np.tile(source.prior, (len(predictions), 1)), None

"""Label estimates: how often each class is there now, from predictions alone.

Under label shift p(y) moves and p(x | y) stays. Then predictions of the model that the confusion
matrix M was measured on have the distribution M p, from which p can be had (Lipton, Wang and Smola,
ICML 2018). Of any other model, such as one that has adapted since, that is not so.
"""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar, final

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import family
from driftfold.trees import finite_rows

M = TypeVar("M")


@family("label_estimate")
class LabelEstimate(ABC, Generic[M]):
    """Rule that says how labels are distributed among each client's present inputs.

    A client's memory is a value: it goes in, and a new one comes out. Memories of several clients
    are stacked along a leading axis; what is said of one does not depend on the others, bit for
    bit.
    """

    @abstractmethod
    def begin(self, source: SourceFacts) -> M:
        """Memory of one client before its first batch: a tree of arrays, or None."""

    def belief(self, memory: M, source: SourceFacts, clients: int) -> Floats:
        """Estimate (k, K) from memory alone, before a further batch. Default: pi_0."""
        return np.tile(source.prior, (clients, 1))

    @final
    def estimate(
        self, memory: M, source: SourceFacts, predictions: npt.NDArray[Any]
    ) -> tuple[Floats, M]:
        """Estimate p, shape (k, K), and the memory that has seen this batch.

        `predictions` are probabilities (k, n, K) of the model that `source` was measured on.
        Entries of p sum to 1; whether they may be negative, the kind says. An empty batch, n = 0,
        leaves belief and memory as they are; what is not finite in a batch makes that client's p
        NaN. Raises `ValueError` for another number of classes,
        `DataError` where the confusion matrix has no inverse and the rule needs one.
        """
        if predictions.ndim != 3 or predictions.shape[-1] != source.classes:
            raise ValueError(
                f"got predictions of shape {predictions.shape}; wanted (clients, n, "
                f"{source.classes}), as the source has {source.classes} classes"
            )
        if not predictions.shape[1]:
            return self.belief(memory, source, len(predictions)), memory
        said = np.ascontiguousarray(predictions, np.float64)
        with np.errstate(invalid="ignore"):
            p, seen = self.update(memory, source, said)
        good = finite_rows(said, len(said))
        return p if good.all() else np.where(good[:, None], p, np.nan), seen

    @abstractmethod
    def update(self, memory: M, source: SourceFacts, predictions: Floats) -> tuple[Floats, M]:
        """Do what `estimate` says, for a batch of n >= 1 in float64."""

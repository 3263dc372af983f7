"""The mean feature against a moving average of all before: what Fed-ADE's scripts compute."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Lt

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed, Signal, Sizes
from driftfold.signals.cosine import TINY, cosine_distance, inner
from driftfold.signals.means import mean


@register("moving_representation")
@dataclass(frozen=True)
class MovingRepresentation(Signal[Floats]):
    """(1 - cos) / 2 of the mean feature and a reference that follows it.

    Other than in the paper features are not normalised one by one, so that long ones count more;
    and the reference is r <- (keep r + (1 - keep) c) normalised, c the direction of the mean.

    Attributes
    ----------
    keep
        Share of the reference that stays at each batch; 0 compares with the last batch.

    Examples
    --------
    >>> signal, said = MovingRepresentation(keep=0.5), np.ones((1, 1, 2)) / 2
    >>> memory = signal.begin(Sizes(2, 2))[None]
    >>> east, north = np.array([[[2.0, 0.0]]]), np.array([[[0.0, 5.0]]])
    >>> _, memory = signal.measure(memory, Observed(said, east, gap=np.array([0])))
    >>> s, memory = signal.measure(memory, Observed(said, north, gap=np.array([1])))
    >>> s, memory.round(3)
    (array([0.5]), array([[0.707, 0.707]]))
    """

    keep: Annotated[float, Ge(0), Lt(1)] = 0.9

    def begin(self, sizes: Sizes) -> Floats:
        """No reference yet."""
        return np.zeros(sizes.features)

    def compare(self, memory: Floats, observed: Observed) -> tuple[Floats, Floats]:
        """Return the distance from the reference, and the reference moved."""
        now = _unit(mean(np.ascontiguousarray(observed.features, np.float64)))
        moved = np.where(observed.seen, 0.5 * cosine_distance(memory, now), 0.0)
        followed = _unit(self.keep * memory + (1 - self.keep) * now)
        return np.clip(moved, 0.0, 1.0), np.where(observed.seen[:, None], followed, now)

    def replace(self, memory: Floats, observed: Observed) -> Floats:
        """Keep the reference: it is no single batch's."""
        return memory


def _unit(vectors: Floats) -> Floats:
    made: Floats = vectors / np.maximum(np.sqrt(inner(vectors, vectors)), TINY)[:, None]
    return made

"""Signs that a label estimate is not to be trusted."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from annotated_types import Ge

from driftfold.arrays import Bools, Floats
from driftfold.errors import DataError
from driftfold.label_shift.solving import solved
from driftfold.label_shift.source import SourceFacts


def smallest_singular_value(confusion: Floats) -> Floats:
    """sigma_min of M, shape (...) of (..., K, K): errors of g grow by up to 1 / sigma_min in p.

    >>> smallest_singular_value(np.eye(3))
    array(1.)
    """
    return np.asarray(np.linalg.svd(confusion, compute_uv=False)[..., -1], np.float64)


def negative_mass(p: Floats) -> Floats:
    """What the negative entries of estimates (..., K) add up to, shape (...), at least 0.

    >>> negative_mass(np.array([1.25, -0.25]))
    array(0.25)
    """
    return np.asarray(np.maximum(-p, 0.0).sum(axis=-1), np.float64)


@dataclass(frozen=True)
class Guards:
    """When to fall back from label estimates to something that needs none.

    Attributes
    ----------
    sigma
        Least smallest singular value of M that is trusted.
    negative
        Most negative mass of M^-1 g that is trusted. Sampling alone gives some: it falls like
        1 / sqrt(n).
    moved
        Most drift of features, a signal in [0, 1] without noise floor, at which p(x | y) is still
        believed to be the source's.
    """

    sigma: Annotated[float, Ge(0)] = 0.1
    negative: Annotated[float, Ge(0)] = 0.1
    moved: Annotated[float, Ge(0)] = 0.1

    def suspect(
        self,
        source: SourceFacts,
        predictions: npt.NDArray[Any],
        moved: Floats | None = None,
    ) -> Bools:
        """Whether label shift does not explain the batches (k, n, K) of predictions, shape (k,).

        `moved` is the drift of features, (k,), where it is known. An empty batch is not suspect.

        >>> m = np.array([[0.9, 0.2], [0.1, 0.8]])
        >>> source = SourceFacts(m, np.array([0.5, 0.5]), np.eye(2), np.arange(2))
        >>> Guards().suspect(source, np.eye(2)[[[0, 0, 1, 1], [0, 0, 0, 0]]])
        array([False,  True])
        """
        weak = smallest_singular_value(source.confusion) < self.sigma
        found = np.broadcast_to(weak, (len(predictions),)).copy()
        if moved is not None:
            found |= moved > self.moved
        if not predictions.shape[1]:
            return np.zeros(len(predictions), bool)
        try:
            raw = solved(source.confusion, source.predicted(predictions))
        except DataError:
            return np.ones(len(predictions), bool)
        return found | (negative_mass(raw) > self.negative)

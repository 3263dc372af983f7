"""How far a model is from what the plain mean over responders makes for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.errors import SpecError
from driftfold.participation.base import Participation
from driftfold.participation.cohort import cohort_weights
from driftfold.participation.independent import IndependentResponses
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.metric import Metric


@runtime_checkable
class Reweightable(Protocol):
    """Capability: the problem of the same clients with other weights is at hand."""

    def reweighted(self, weights: Floats) -> Any:
        """Return the problem with objective sum_i `weights`_i f_i."""
        ...


# What a problem is reweighted to costs a pass over all samples, and every evaluation asks.
_REWEIGHTED: WeakKeyDictionary[Problem, dict[Participation, Any]] = WeakKeyDictionary()


@register("cohort_gap")
@dataclass(frozen=True)
class CohortGap(Metric):
    """Gap of the objective sum_i p~_i f_i that weights without correction minimise.

    p~_i is client i's expected weight in the mean over the responders (`cohort_weights`). Without
    correction this gap vanishes where that of F = sum_i a_i f_i does not. Source: RFedAGS,
    arXiv 2409.07223, whose figures show both.

    Attributes
    ----------
    participation
        Who answers, as the specification says it: responses have to be independent.

    Examples
    --------
    >>> from driftfold.data.gaussian_blocks import GaussianBlocks
    >>> from driftfold.participation.bernoulli import Bernoulli
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks.pca import Pca
    >>> problem = Pca(data=GaussianBlocks(3, 5, 4), rank=2).build(Seed(1))
    >>> metric = CohortGap(Bernoulli(p=(0.9, 0.5, 0.1)))
    >>> metric.measure(problem, problem.initial_point(), 0.0)["cohort_gap"] > 0
    True
    """

    participation: Participation

    def measure(self, problem: Problem, x: Array, time: float) -> Mapping[str, float]:
        """Ask the reweighted problem; raises `SpecError` where there is none."""
        if not isinstance(problem, Reweightable):
            raise SpecError(
                "metric 'cohort_gap' needs a task whose clients can be weighed anew, such as "
                "'pca'; leave it out"
            )
        made = _REWEIGHTED.setdefault(problem, {})
        if self.participation not in made:
            made[self.participation] = problem.reweighted(self._weights(problem))
        return {"cohort_gap": float(made[self.participation].evaluate(x, time)["gap"])}

    def _weights(self, problem: Problem) -> Floats:
        attendance = self.participation.attend(problem.fleet)
        if not isinstance(attendance, IndependentResponses):
            raise SpecError(
                "metric 'cohort_gap' needs independent responses; name a participation such as "
                "'bernoulli' in it, or leave it out"
            )
        return cohort_weights(attendance.probability(np.arange(problem.fleet.size)))

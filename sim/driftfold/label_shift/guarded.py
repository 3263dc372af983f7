"""An estimate with another one in reserve."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.guards import Guards
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import register
from driftfold.trees import node


@node
class Reserve:
    """Of each client: memories of the rule and of the one in reserve, and who is asked, (k,)."""

    inner: Any
    other: Any
    trusted: Any


@register("guarded")
@dataclass(frozen=True)
class Guarded(LabelEstimate[Reserve]):
    """Estimates of a rule where label shift explains the predictions, else those of another.

    Under covariate shift M is not what it was, and M^-1 of the predictions is often no distribution
    at all: see `Guards`.

    Attributes
    ----------
    of
        Rule that is asked.
    reserve
        Rule that answers where the first is not trusted.
    sigma
        Least smallest singular value of M that is trusted.
    negative
        Most negative mass of M^-1 g that is trusted.

    Examples
    --------
    >>> from driftfold.label_shift.inverse import Inverse
    >>> from driftfold.label_shift.uniform import Uniform
    >>> from driftfold.trees import spread
    >>> m = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> source = SourceFacts(m, np.array([0.5, 0.5]), np.eye(2), np.arange(2))
    >>> rule = Guarded(Inverse(), Uniform())
    >>> batches = np.eye(2)[[[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]]
    >>> rule.estimate(spread(rule.begin(source), 2), source, batches)[0].round(6)
    array([[0.666667, 0.333333],
           [0.5     , 0.5     ]])
    """

    of: LabelEstimate[Any]
    reserve: LabelEstimate[Any]
    sigma: Annotated[float, Ge(0)] = 0.1
    negative: Annotated[float, Ge(0)] = 0.1

    def begin(self, source: SourceFacts) -> Reserve:
        """Trust at first."""
        trusted = np.ones((), bool)
        return Reserve(self.of.begin(source), self.reserve.begin(source), trusted)

    def belief(self, memory: Reserve, source: SourceFacts, clients: int) -> Floats:
        """Belief of the rule that answered last."""
        rules = (self.of, memory.inner), (self.reserve, memory.other)
        beliefs = [rule.belief(own, source, clients) for rule, own in rules]
        return np.where(memory.trusted[:, None], *beliefs)

    def update(
        self, memory: Reserve, source: SourceFacts, predictions: Floats
    ) -> tuple[Floats, Reserve]:
        """Ask both, so that both remember, and choose."""
        guards = Guards(self.sigma, self.negative)
        trusted = ~guards.suspect(source, predictions)
        p, inner = self.of.estimate(memory.inner, source, predictions)
        q, other = self.reserve.estimate(memory.other, source, predictions)
        return np.where(trusted[:, None], p, q), Reserve(inner, other, trusted)

"""Follow the leading history, of followers of the leader: no window has to be chosen.

Baby, D., Garg, S., Yen, T.-C., Balakrishnan, S., Lipton, Z. C., Wang, Y.-X.: "Online label shift:
optimal dynamic regret meets practical algorithms", NeurIPS 2023; FLH of Hazan and Seshadhri (2007).
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats, Ints
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.simplex import Fix, fixed
from driftfold.label_shift.source import SourceFacts
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register
from driftfold.trees import node


@node
class Experts:
    """Of each client: the last estimates, newest first, and what the experts weigh.

    Attributes
    ----------
    kept
        Estimates (k, m, K).
    weight
        Of expert j = 1, 2, ..., the mean of the last j estimates, (k, m); sums to 1.
    count
        How many estimates there were, (k,).
    inner
        Memory of the rule whose estimates are averaged.
    """

    kept: Floats
    weight: Floats
    count: Ints
    inner: Any


@register("flh_ftl")
@dataclass(frozen=True)
class FlhFtl(LabelEstimate[Experts]):
    """Weighted mean of experts, of which expert j is the mean of the last j estimates.

    With a new estimate phat each expert's weight is multiplied by exp(-||expert - phat||^2 / K);
    then a new expert enters with weight 1 / (m + 1), where m were there. Long means win while
    nothing moves, short ones after a jump: the regret against shares that move is optimal.

    Attributes
    ----------
    of
        Rule whose estimates are averaged.
    experts
        How many at most: the oldest goes. Memory is (K + 1) `experts` numbers a client.
    rate
        Of the weights, in units of 1 / K.
    fix
        What to do with negative entries of the mean.

    Examples
    --------
    >>> from driftfold.label_shift.inverse import Inverse
    >>> from driftfold.trees import spread
    >>> source = SourceFacts(np.eye(2), np.array([0.5, 0.5]), np.eye(2), np.arange(2))
    >>> rule = FlhFtl(Inverse())
    >>> p, memory = rule.estimate(spread(rule.begin(source), 1), source, np.eye(2)[[[0, 0]]])
    >>> rule.estimate(memory, source, np.eye(2)[[[1, 1]]])[0]
    array([[0.25, 0.75]])
    """

    of: LabelEstimate[Any]
    experts: Annotated[int, Gt(0)] = 50
    rate: Annotated[float, Gt(0)] = 1.0
    fix: Fix = "none"

    def begin(self, source: SourceFacts) -> Experts:
        """No expert yet."""
        kept = np.zeros((self.experts, source.classes))
        weight, count = np.zeros(self.experts), np.zeros((), np.int64)
        return Experts(kept, weight, count, self.of.begin(source))

    def belief(self, memory: Experts, source: SourceFacts, clients: int) -> Floats:
        """Return the weighted mean of the experts."""
        mean = (memory.weight[..., None] * _experts(memory)).sum(axis=1)
        return fixed(np.where((memory.count > 0)[:, None], mean, source.prior), self.fix)

    def update(
        self, memory: Experts, source: SourceFacts, predictions: Floats
    ) -> tuple[Floats, Experts]:
        """Weigh the experts by how well they foretold the new estimate, and add one."""
        p, inner = self.of.estimate(memory.inner, source, predictions)
        miss = ((_experts(memory) - p[:, None]) ** 2).sum(axis=-1)
        # The best expert's miss is taken off, so that not all weights vanish.
        there = np.arange(self.experts) < memory.count[:, None]
        least = np.where(there, miss, np.inf).min(axis=-1, keepdims=True)
        least = np.where(np.isfinite(least), least, 0.0)
        lost = np.where(there, miss - least, 0.0) * (self.rate / source.classes)
        weight = memory.weight * in_whole_vectors(np.exp, -lost)
        total = weight.sum(axis=-1, keepdims=True)
        share = np.minimum(memory.count, self.experts)[:, None]
        weight = weight / np.where(total > 0, total, 1.0) * (share / (share + 1))
        older = np.concatenate([1 / (share + 1), weight[:, :-1]], axis=-1)
        older = older / older.sum(axis=-1, keepdims=True)
        kept = np.concatenate([p[:, None], memory.kept[:, :-1]], axis=1)
        seen = Experts(kept, older, memory.count + 1, inner)
        return self.belief(seen, source, len(p)), seen


def _experts(memory: Experts) -> Floats:
    """Means of the last 1, 2, ... estimates, (k, m, K); those with too few are not weighed."""
    lengths = np.arange(1, memory.kept.shape[1] + 1)[:, None]
    means: Floats = np.cumsum(memory.kept, axis=1) / lengths
    return means

"""The mean of all estimates so far, or of the last few.

Wu, R., Guo, C., Su, Y., Weinberger, K. Q.: "Online adaptation to label distribution shift",
NeurIPS 2021: Follow The History, and with a window FTFWH.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats, Ints
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.simplex import Fix, fixed
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import register
from driftfold.trees import node


@node
class History:
    """Of each client: estimates in a ring or their one sum, (k, w, K), their number, of's memory.

    Attributes
    ----------
    kept
        With a window of w the last w estimates, at their number modulo w; else their sum, w = 1.
    count
        How many there were, (k,).
    inner
        Memory of the rule whose estimates are averaged.
    """

    kept: Floats
    count: Ints
    inner: Any


@register("running_mean")
@dataclass(frozen=True)
class RunningMean(LabelEstimate[History]):
    """Mean of another rule's estimates over a client's batches, all or the last `window`.

    Of `inverse` with fix "none" this is the paper's rule, M^-1 times the mean of all predictions;
    what its own code predicts a batch by is the belief before it. Before the first one it is pi_0.

    Attributes
    ----------
    of
        Rule whose estimates are averaged.
    window
        How many batches count; None counts all of them alike. Memory is K numbers, or `window` K.
    fix
        What to do with negative entries of the mean.

    Examples
    --------
    >>> from driftfold.label_shift.inverse import Inverse
    >>> source = SourceFacts(np.eye(2), np.array([0.5, 0.5]), np.eye(2), np.arange(2))
    >>> from driftfold.trees import spread
    >>> rule, first, second = RunningMean(Inverse()), np.eye(2)[[[0, 0]]], np.eye(2)[[[0, 1]]]
    >>> p, memory = rule.estimate(spread(rule.begin(source), 1), source, first)
    >>> rule.estimate(memory, source, second)[0]
    array([[0.75, 0.25]])
    """

    of: LabelEstimate[Any]
    window: Annotated[int, Gt(0)] | None = None
    fix: Fix = "none"

    def begin(self, source: SourceFacts) -> History:
        """No estimate yet."""
        kept = np.zeros((self.window or 1, source.classes))
        return History(kept, np.zeros((), np.int64), self.of.begin(source))

    def belief(self, memory: History, source: SourceFacts, clients: int) -> Floats:
        """Return the mean of the estimates so far."""
        count = memory.count if self.window is None else np.minimum(memory.count, self.window)
        mean = memory.kept.sum(axis=1) / np.maximum(count, 1)[:, None]
        return fixed(np.where((count > 0)[:, None], mean, source.prior), self.fix)

    def update(
        self, memory: History, source: SourceFacts, predictions: Floats
    ) -> tuple[Floats, History]:
        """Take one more estimate into the mean."""
        p, inner = self.of.estimate(memory.inner, source, predictions)
        if self.window is None:
            kept = memory.kept + p[:, None]
        else:
            place = np.arange(self.window) == (memory.count % self.window)[:, None]
            kept = np.where(place[..., None], p[:, None], memory.kept)
        seen = History(kept, memory.count + 1, inner)
        return self.belief(seen, source, len(p)), seen

"""No correction: the plain mean over those who happened to contribute."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register


@register("none")
@dataclass(frozen=True)
class Unweighted(Estimator[None]):
    """Weight a_i / sum of a_j over the responders: 1/|S_t| when all clients matter equally.

    With unequal p_i this minimises a reweighted objective, not F: see
    `driftfold.participation.cohort`. Source: AGS-RS (RFedAGS under random sampling), FedAvg.

    >>> import numpy as np
    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5, 5, 5]), importance=np.full(4, 0.25))
    >>> rule = Unweighted()
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0, 3]), round=1)
    >>> weights
    array([0.5, 0.5])
    """

    alone = False

    counts_repeats = True

    def begin(self, fleet: Fleet, attendance: Attendance) -> None:
        """Return no state: this rule remembers nothing."""
        return

    def weigh(self, state: None, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, None]:
        """Return the responders' share of their own total importance."""
        importance = fleet.importance[responders]
        # Clients without data may be the only ones to respond; then nobody counts.
        return importance / (importance.sum() or 1.0), None

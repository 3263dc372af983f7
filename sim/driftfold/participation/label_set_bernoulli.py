"""Participation that depends on which classes a client's data are of."""

from dataclasses import dataclass
from typing import Literal

from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.independent import IndependentResponses
from driftfold.participation.label_sets import label_sets
from driftfold.participation.probabilities import Probability
from driftfold.registry import register


@register("label_set_bernoulli")
@dataclass(frozen=True)
class LabelSetBernoulli(Participation):
    """Independent answers with p_i = share x_i + 1 - share, where x_i in [0, 1] tells of classes.

    Classes are numbered 0 to C - 1. By `lowest`, x_i is the lowest class of which client i has
    samples, over C - 1 (Gu et al., "Fast Federated Learning in the Presence of Arbitrary Device
    Unavailability" (MIFA, NeurIPS 2021), experiments); by `count`, it is the share of the classes
    of which it has samples (the mode "fewer labels first" of FLGo, Wang et al., 2023).

    Attributes
    ----------
    by
        What is looked at.
    share
        How much of the probability depends on it.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(3, 5), importance=np.full(3, 1 / 3),
    ...               label_shares=np.array([[1.0, 0, 0], [0, 0.5, 0.5], [0, 0, 1.0]]))
    >>> LabelSetBernoulli(share=0.8).attend(fleet).probability(np.arange(3))
    array([0.2, 0.6, 1. ])
    """

    by: Literal["lowest", "count"] = "lowest"
    share: Probability = 0.9

    knows_probability = True

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `CapabilityError` when the data have no labels."""
        has = label_sets("label_set_bernoulli", fleet)
        classes = has.shape[1]
        if self.by == "lowest":
            x = has.argmax(axis=1) / max(classes - 1, 1)
        else:
            x = has.sum(axis=1) / classes
        p = self.share * x + (1 - self.share)
        return IndependentResponses(p, fleet.seed.stream("participation.responds"))

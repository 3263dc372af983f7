"""Participation that depends on what a client's data are about."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Interval

from driftfold.errors import CapabilityError
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.dirichlet import dirichlet
from driftfold.participation.independent import IndependentResponses
from driftfold.registry import register


@register("label_bernoulli")
@dataclass(frozen=True)
class LabelBernoulli(Participation):
    """Independent answers whose probabilities follow the labels: p_i = sum_c share_ic u_c.

    u ~ Dirichlet(alpha) over the classes, scaled to mean `mean`; p_i is then kept between `floor`
    and 1. Whoever holds the favoured classes answers often, so that an uncorrected mean learns
    those classes. Source: Wang and Ji, "A Lightweight Method for Tackling Unknown Participation
    Statistics in Federated Averaging" (FedAU, ICLR 2024), experiments.

    Attributes
    ----------
    alpha
        Concentration: near 0 one class has all the weight, large values make all clients alike.
    mean
        Mean of u over the classes; the mean of p_i when classes are balanced over clients,
        before `floor` and 1 are applied.
    floor
        Smallest p_i.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(3, 5), importance=np.full(3, 1 / 3),
    ...               label_shares=np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> p = LabelBernoulli(alpha=1.0, mean=0.4).attend(fleet).probability(np.arange(3))
    >>> bool(np.isclose(p[1], (p[0] + p[2]) / 2)), round(float(p.mean()), 12)
    (True, 0.4)
    """

    alpha: Annotated[float, Gt(0)] = 0.1
    mean: Annotated[float, Interval(gt=0, le=1)] = 0.1
    floor: Annotated[float, Interval(ge=0, le=1)] = 0.02

    knows_probability = True

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `CapabilityError` when the data have no labels."""
        if fleet.label_shares is None:
            raise CapabilityError(
                "participation 'label_bernoulli' follows the labels, but these data have none; "
                "use labelled data, or participation 'bernoulli'"
            )
        classes = fleet.label_shares.shape[1]
        u = dirichlet(fleet.seed, "participation.labels", classes, self.alpha)
        # Not a matrix product: its rounding may depend on how many clients there are.
        p = (fleet.label_shares * (self.mean * classes * u)).sum(axis=1)
        return IndependentResponses(
            np.clip(p, self.floor, 1.0), fleet.seed.stream("participation.responds")
        )

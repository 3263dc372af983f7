"""No discount up to an age, and then a hyperbola."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Interval

from driftfold.arrays import Floats, Ints
from driftfold.registry import register
from driftfold.staleness.base import Staleness


@register("hinge")
@dataclass(frozen=True)
class Hinge(Staleness):
    """Weight 1 up to s = b, then 1 / (1 + a (s - b)).

    Source: Xie et al., FedAsync (2019), section 5.2.

    Attributes
    ----------
    a
        How fast the weight falls.
    b
        Largest staleness that costs nothing.

    Examples
    --------
    >>> Hinge(a=1.0, b=2).weight(np.array([0, 2, 3]))
    array([1. , 1. , 0.5])
    """

    a: Annotated[float, Gt(0)] = 10.0
    b: Annotated[int, Interval(ge=0, le=2**32)] = 4

    def weight(self, s: Ints) -> Floats:
        """Return 1 / (1 + a max(s - b, 0))."""
        weights: Floats = 1.0 / (1.0 + self.a * np.maximum(s - self.b, 0))
        return weights

    def formula(self) -> str:
        """Return the formula with its numbers."""
        return f"1 / (1 + {self.a:g} max(s - {self.b}, 0))"

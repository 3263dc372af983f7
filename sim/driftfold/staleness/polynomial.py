"""A power of the age."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats, Ints
from driftfold.registry import register
from driftfold.staleness.base import Staleness


@register("polynomial")
@dataclass(frozen=True)
class Polynomial(Staleness):
    """Weight (1 + s)^-a.

    Source: Xie et al., FedAsync (2019), section 5.2; with a = 1/2 Nguyen et al., FedBuff (2022).

    Attributes
    ----------
    a
        Exponent.

    Examples
    --------
    >>> Polynomial().weight(np.array([0, 3]))
    array([1. , 0.5])
    """

    a: Annotated[float, Ge(0)] = 0.5

    def weight(self, s: Ints) -> Floats:
        """Return (1 + s)^-a."""
        weights: Floats = np.power(1.0 + s, -self.a)
        return weights

    def formula(self) -> str:
        """Return the formula with its exponent."""
        return f"(1 + s)^-{self.a:g}"

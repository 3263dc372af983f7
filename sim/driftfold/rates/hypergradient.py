"""A rate that is itself learned, by the gradient of the risk in the rate.

Baydin, A. G., Cornish, R., Martinez Rubio, D., Schmidt, M., Wood, F.: "Online learning rate
adaptation with hypergradient descent", ICLR 2018:

    eta_s = eta_{s-1} + beta g_s . g_{s-1},

here between two bounds.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Array, Floats
from driftfold.errors import SpecError
from driftfold.rates.base import Meeting, Rate
from driftfold.registry import register
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.trees import node


@node
class Before:
    """Of each client: eta, and the gradient of its last local step, (P,)."""

    rate: Array
    gradient: Array


@register("hypergradient")
@dataclass(frozen=True)
class Hypergradient(Rate):
    """Larger while gradients of successive local steps agree, smaller while they do not.

    The rate that a batch is met with, and recorded, is that of the local step before it. A client
    keeps a gradient, as large as theta. In steps on personal parts only these enter the product.

    Attributes
    ----------
    start
        eta before the first step.
    beta
        How fast eta moves.
    low, high
        Bounds of eta.

    Examples
    --------
    >>> Hypergradient(start=0.05)
    Hypergradient(start=0.05, beta=0.001, low=0.0, high=1.0)
    """

    steers = True

    start: Annotated[float, Ge(0)] = 0.1
    beta: Annotated[float, Gt(0)] = 0.001
    low: Annotated[float, Ge(0)] = 0.0
    high: Annotated[float, Gt(0)] = 1.0

    def begin(self, problem: StreamProblem) -> Before:
        """No gradient yet. Raises `SpecError` where the start is outside the bounds."""
        if not self.low <= self.start <= self.high:
            raise SpecError(
                f"rate 'hypergradient' starts between its bounds, got start = {self.start} with "
                f"low = {self.low} and high = {self.high}; move one of them"
            )
        return Before(np.array(self.start), np.zeros_like(problem.source.start))

    def meet(
        self, problem: StreamProblem, memory: Before, meeting: Meeting
    ) -> tuple[Floats, Before]:
        """Return eta as it is."""
        return np.array(memory.rate), memory

    def size(
        self, problem: StreamProblem, rate: Floats, memory: Before, theta: Array, gradient: Array
    ) -> tuple[Floats, Before]:
        """Move eta by the product of two gradients."""
        products = gradient.astype(np.float64) * memory.gradient
        along = np.ascontiguousarray(products).sum(axis=-1)
        eta = np.clip(memory.rate + self.beta * along, self.low, self.high)
        return eta, Before(eta, gradient)

"""Distance over gradients: a rate without a rate to choose.

Ivgi, M., Hinder, O., Carmon, Y.: "DoG is SGD's best friend: a parameter-free dynamic step size
schedule", ICML 2023. At the local step s

    r_s = max(r_{s-1}, ||theta_s - theta_0||),    eta_s = r_s / sqrt(sum_{u <= s} ||g_u||^2).

The means of iterates that the paper evaluates are not taken. That sums are discounted and that
theta_0 is moved along, both for data that drift, is ours.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Le

from driftfold.arrays import Array, Floats
from driftfold.rates.base import Meeting, Rate
from driftfold.registry import register
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.trees import node

SMALL, SMALL_NORMED = 1e-6, 1e-4
"""r_0 in units of 1 + ||theta_0||, and where a net has batch normalisations."""


@node
class Travelled:
    """Of each client: theta_0 where it moves along (else empty), r, sum of squares, steps, eta."""

    anchor: Array
    reach: Array
    squares: Array
    steps: Array
    rate: Array


@register("dog")
@dataclass(frozen=True)
class DoG(Rate):
    """Longest distance from the start over the root of the sum of squared gradients.

    The rate that a batch is met with, and recorded, is that of the local step before it.

    Attributes
    ----------
    initial
        r_0; None: 1e-6 (1 + ||theta_0||), and 1e-4 (1 + ||theta_0||) with batch normalisation.
    discount
        What is left of the sum of squares after each local step; 1 is DoG.
    largest
        Most that eta may be; None: no bound. Where sums are discounted and gradients vanish, as
        those of the entropy do, eta grows beyond all bounds.
    recentre
        Local steps after which all begins anew from where the client is; None: never. It costs a
        copy of theta a client.

    Examples
    --------
    >>> DoG(discount=0.99)
    DoG(initial=None, discount=0.99, largest=None, recentre=None)
    """

    steers = True

    initial: Annotated[float, Gt(0)] | None = None
    discount: Annotated[float, Gt(0), Le(1)] = 1.0
    largest: Annotated[float, Gt(0)] | None = None
    recentre: Annotated[int, Gt(0)] | None = None

    def begin(self, problem: StreamProblem) -> Travelled:
        """Nowhere yet."""
        start = problem.source.start
        anchor = start if self.recentre else start[:0]
        steps = np.zeros((), dtype=np.int64)
        return Travelled(anchor, self._least(problem), np.zeros(()), steps, np.zeros(()))

    def meet(
        self, problem: StreamProblem, memory: Travelled, meeting: Meeting
    ) -> tuple[Floats, Travelled]:
        """Tell the latest rate; what is far is known when the gradient is."""
        return np.array(memory.rate), memory

    def size(
        self,
        problem: StreamProblem,
        rate: Floats,
        memory: Travelled,
        theta: Array,
        gradient: Array,
    ) -> tuple[Floats, Travelled]:
        """r_s / sqrt(sum of squares); 0 as long as all gradients are 0."""
        anchor, reach, squares, steps = memory.anchor, memory.reach, memory.squares, memory.steps
        if self.recentre:
            again = steps == self.recentre
            anchor = np.where(again[:, None], theta, anchor)
            reach = np.where(again, self._least(problem), reach)
            squares, steps = np.where(again, 0.0, squares), np.where(again, 0, steps)
        origin = anchor if self.recentre else problem.source.start
        reach = np.maximum(reach, np.sqrt(_square(theta - origin)))
        squares = self.discount * squares + _square(gradient)
        eta = np.where(squares > 0, reach / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
        if self.largest is not None:
            eta = np.minimum(eta, self.largest)
        return eta, Travelled(anchor, reach, squares, steps + 1, eta)

    def _least(self, problem: StreamProblem) -> Any:
        """r_0."""
        if self.initial is not None:
            return np.array(self.initial)
        model, start = problem.model, problem.source.start
        length = float(np.sqrt(_square(start[~model.layout.buffers])))
        return np.array((SMALL_NORMED if model.norms else SMALL) * (1 + length))


def _square(x: Array) -> Floats:
    """Squared lengths (...) of vectors (..., P), float64."""
    made: Floats = np.ascontiguousarray(x.astype(np.float64) ** 2).sum(axis=-1)
    return made

"""Server Adam: the rounds' vectors, averaged and divided by how long they have been.

Reddi, S., et al.: "Adaptive federated optimization", ICLR 2021, Algorithm 2 (FedAdam), on a
manifold as Becigneul, G., Ganea, O.-E.: "Riemannian adaptive optimization methods", ICLR 2019:

    m <- beta1 m + (1 - beta1) v,    s <- beta2 s + (1 - beta2) |v|^2,
    step = size m / (sqrt(s) + eps),   m transported to where the step leads.

There are no coordinates on a curved manifold that one could divide one by one: |v|^2 is the squared
length of each factor of a product or power, and of each number on Euclidean ones, where it is Adam.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.arrays import Array
from driftfold.manifolds.base import Manifold
from driftfold.optimizers.base import ServerOptimizer
from driftfold.optimizers.factor_squares import factor_squares
from driftfold.registry import register
from driftfold.trees import node


@node
class AdamMoments:
    """First moment in T_{x_t} M; second, one number for each entry; rounds that made them.

    `largest` is the largest second moment of any round, where it is wanted.
    """

    first: Array
    second: Array
    count: int
    largest: Array | None = None


@register("adam")
@dataclass(frozen=True)
class Adam(ServerOptimizer):
    """Adaptive server step: about `size` long in each factor, whatever the length of the updates.

    Attributes
    ----------
    size
        Server step size. It does not multiply the rounds' vectors but replaces their length.
    beta1
        Share of the first moment that is kept.
    beta2
        Share of the second moment that is kept.
    eps
        What the root of the second moment is increased by: rounds with much shorter vectors take
        shorter steps. 1e-3 is that of Reddi et al., who call it tau; vectors shrink with the
        clients' step size, so it must do so, too.
    bias_correction
        Whether moments are divided by 1 - beta^t, because they started from 0 (Kingma and Ba,
        2015); Reddi et al. leave it out.
    amsgrad
        Whether to divide by the largest second moment so far, for which convergence is proved
        (Reddi, Kale and Kumar, 2018; RAMSGrad of Becigneul and Ganea).

    >>> from driftfold.manifolds import Euclidean
    >>> plane, rule, x = Euclidean(2), Adam(size=0.1, eps=1e-12), np.zeros(2)
    >>> step, moments = rule.direct(plane, x, np.array([3.0, -0.01]), rule.begin(plane, x))
    >>> step.round(6)
    array([ 0.1, -0.1])
    """

    size: Annotated[float, Gt(0)] = 0.01
    beta1: Annotated[float, Ge(0), Lt(1)] = 0.9
    beta2: Annotated[float, Ge(0), Lt(1)] = 0.99
    eps: Annotated[float, Gt(0)] = 1e-3
    bias_correction: bool = True
    amsgrad: bool = False

    def begin(self, manifold: Manifold, x: Array) -> AdamMoments:
        """Return moments of 0."""
        nothing = np.zeros_like(x)
        return AdamMoments(nothing, nothing, 0, nothing if self.amsgrad else None)

    def direct(
        self, manifold: Manifold, x: Array, v: Array, moments: AdamMoments
    ) -> tuple[Array, AdamMoments]:
        """Step size * m / (sqrt(s) + eps), from the moments that have seen v."""
        first = self.beta1 * moments.first + (1 - self.beta1) * v
        squares = factor_squares(manifold, x, v)
        second = self.beta2 * moments.second + (1 - self.beta2) * squares
        largest = None if moments.largest is None else np.maximum(moments.largest, second)
        seen = AdamMoments(first, second, moments.count + 1, largest)
        known = [1 - b**seen.count if self.bias_correction else 1 for b in (self.beta1, self.beta2)]
        length = np.sqrt((second if largest is None else largest) / known[1])
        return self.size / known[0] * first / (length + self.eps), seen

    def carry(self, manifold: Manifold, x: Array, y: Array, moments: AdamMoments) -> AdamMoments:
        """Transport m from x to y; s has no direction."""
        return replace(moments, first=manifold.transport(x, y, moments.first))

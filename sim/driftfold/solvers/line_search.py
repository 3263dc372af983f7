"""Backtracking along a retraction, down to where values are only rounding."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Array, array_namespace
from driftfold.solvers.base import Iterate, Objective


@dataclass(frozen=True)
class Found:
    """An accepted step.

    Attributes
    ----------
    iterate
        Where it leads.
    size
        Multiple of the direction.
    trials
        Points tried, the accepted one included.
    carried
        The direction, transported to the new point.
    """

    iterate: Iterate
    size: float
    trials: int
    carried: Array


def backtrack(
    objective: Objective,
    here: Iterate,
    direction: Array,
    size: float,
    *,
    decrease: float = 1e-4,
    halvings: int = 25,
) -> Found | None:
    """Halve `size` until x' = R_x(size * direction) is accepted; None if it never is.

    The rule is Armijo's, F(x') <= F(x) + decrease * size * slope. Where the two values agree to
    half their digits, rounding decides it, and the slopes decide instead: the one at x' along the
    transported direction may be at most (2 * decrease - 1) * slope, which is Armijo's rule for a
    parabola (the approximate Wolfe condition, Hager and Zhang 2005, equation 4.1).

    Parameters
    ----------
    objective
        F.
    here
        x, with its value and gradient.
    direction
        A direction of descent in T_x M.
    size
        First multiple of the direction to try.
    decrease
        Share of the promised decrease that is wanted, below 1.
    halvings
        Most times to halve.
    """
    manifold = objective.manifold
    x = here.point
    slope = float(manifold.inner(x, here.gradient, direction))
    length = float(manifold.norm(x, direction))
    blur = float(array_namespace(x).finfo(x.dtype).eps) ** 0.5 * abs(here.value)
    for trial in range(1, halvings + 2):
        point = manifold.retract(x, size * direction)
        value = float(objective.value(point))
        blurred = abs(value - here.value) <= blur
        if blurred or value <= here.value + decrease * size * slope:
            gradient = objective.gradient(point)
            carried = manifold.transport(x, point, direction)
            end = float(manifold.inner(point, gradient, carried))
            if not blurred or end <= (2 * decrease - 1) * slope:
                norm = float(manifold.norm(point, gradient))
                if np.isfinite(norm):
                    evaluations = here.evaluations + trial
                    iterate = Iterate(point, value, gradient, norm, size * length, evaluations)
                    return Found(iterate, size, trial, carried)
        size /= 2
    return None

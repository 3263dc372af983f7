"""Riemannian steepest descent (Absil, Mahony, Sepulchre 2008, section 4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

from driftfold.arrays import Array
from driftfold.registry import register
from driftfold.solvers.base import Iterate, Objective, Solver, first_iterate
from driftfold.solvers.line_search import backtrack

_OPTIMISM = 1.1  # how much further than the last step's parabola says to try first
_BLUR = 1e-8  # a smaller relative decrease tells nothing about the next step


@register("rsd")
@dataclass(frozen=True)
class Rsd(Solver):
    """Steps along minus the gradient, with Armijo's rule by halving.

    The first trial of a step is where a parabola through the last two values has its minimum
    (Nocedal and Wright 2006, equation 3.60); that of the first step has length 1.

    Attributes
    ----------
    tolerance
        Length of the gradient at which to stop.
    iterations
        Most steps to take.
    shortest_step
        Length of a step at which to stop; 0 never stops for it.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.manifolds import Sphere
    >>> sphere, b = Sphere(3), np.array([3.0, 0.0, 4.0])
    >>> minus_b = Objective(sphere, lambda x: -float(b @ x), lambda x: sphere.gradient(x, -b))
    >>> solution = Rsd().minimise(minus_b, np.array([0.0, 1.0, 0.0]))
    >>> solution.why, (solution.point.round(5) + 0.0).tolist()
    ('gradient', [0.6, 0.0, 0.8])
    """

    def path(self, objective: Objective, start: Array) -> Iterator[Iterate]:
        """Yield the start and every iterate after it; end where no step decreases F."""
        here = first_iterate(objective, start)
        size = 1 / (here.gradient_norm or 1.0)
        while True:
            yield here
            found = backtrack(objective, here, -here.gradient, size)
            if found is None:
                return
            fall = here.value - found.iterate.value
            here = found.iterate
            size = 2 * _OPTIMISM * fall / (here.gradient_norm**2 or 1.0)
            if fall <= _BLUR * abs(here.value):
                size = 2 * found.size

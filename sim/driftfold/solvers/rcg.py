"""Riemannian conjugate gradients (Sato 2021, "Riemannian optimization and its applications")."""

from collections.abc import Iterator
from dataclasses import dataclass

from driftfold.arrays import Array
from driftfold.registry import register
from driftfold.solvers.base import Iterate, Objective, Solver, first_iterate
from driftfold.solvers.line_search import backtrack


@register("rcg")
@dataclass(frozen=True)
class Rcg(Solver):
    """Conjugate gradients with the rule of Hestenes and Stiefel and an adaptive first trial.

    d' = -g' + max(0, <g', y> / <T d, y>) T d with y = g' - T g; steepest descent where that is no
    direction of descent. A step that needed no or many halvings makes the next first trial twice
    as long (the adaptive line search of Manopt).

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
    >>> sphere, a = Sphere(3), np.diag([1.0, 2.0, 5.0])
    >>> least = Objective(
    ...     sphere, lambda x: float(x @ a @ x), lambda x: sphere.gradient(x, 2 * a @ x)
    ... )
    >>> solution = Rcg().minimise(least, np.ones(3) / np.sqrt(3))
    >>> solution.why, round(solution.value, 9)
    ('gradient', 1.0)
    """

    def path(self, objective: Objective, start: Array) -> Iterator[Iterate]:
        """Yield the start and every iterate after it; end where no step decreases F."""
        manifold = objective.manifold
        here = first_iterate(objective, start)
        direction = -here.gradient
        size = 1 / (here.gradient_norm or 1.0)
        while True:
            yield here
            found = backtrack(objective, here, direction, size, decrease=0.5, halvings=10)
            if found is None:
                found = backtrack(objective, here, -here.gradient, 1 / (here.gradient_norm or 1.0))
            if found is None:
                return
            size = found.size if found.trials == 2 else 2 * found.size
            there = found.iterate
            x, g, carried = there.point, there.gradient, found.carried
            y = g - manifold.transport(here.point, x, here.gradient)
            along = float(manifold.inner(x, carried, y))
            beta = max(0.0, float(manifold.inner(x, g, y)) / along) if along else 0.0
            direction = -g + beta * carried
            if not float(manifold.inner(x, g, direction)) < 0:
                direction = -g
            here = there

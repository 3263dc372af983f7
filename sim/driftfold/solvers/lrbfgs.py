"""Limited-memory Riemannian BFGS.

Huang, W., Gallivan, K. A., Absil, P.-A.: "A Broyden class of quasi-Newton methods for Riemannian
optimization", SIAM Journal on Optimization 25 (2015), in the form of the solver with which the
experiments of RFedAGS compute F*: a cautious update, and stored pairs carried along at every step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from driftfold.arrays import Array, array_namespace
from driftfold.manifolds.base import Manifold
from driftfold.registry import register
from driftfold.solvers.base import Iterate, Objective, Solver, first_iterate
from driftfold.solvers.line_search import Found, backtrack

_CAUTION = 1e-4  # a pair is kept if <s, y> / <s, s> is at least this times the gradient's length


@register("lrbfgs")
@dataclass(frozen=True)
class Lrbfgs(Solver):
    """Quasi-Newton steps from the last `memory` pairs of steps and changes of the gradient.

    The first trial is the whole quasi-Newton step, and a step of length 1 where there are no
    pairs. Where no such step is accepted the pairs are dropped.

    Attributes
    ----------
    tolerance
        Length of the gradient at which to stop.
    iterations
        Most steps to take.
    shortest_step
        Length of a step at which to stop; 0 never stops for it.
    memory
        Most pairs to keep.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.manifolds import Sphere
    >>> sphere, a = Sphere(4), np.diag([1.0, 2.0, 5.0, 9.0])
    >>> least = Objective(
    ...     sphere, lambda x: float(x @ a @ x), lambda x: sphere.gradient(x, 2 * a @ x)
    ... )
    >>> solution = Lrbfgs(tolerance=1e-12).minimise(least, np.ones(4) / 2)
    >>> solution.converged, round(solution.value, 12)
    (True, 1.0)
    """

    memory: Annotated[int, Gt(0)] = 30

    def path(self, objective: Objective, start: Array) -> Iterator[Iterate]:
        """Yield the start and every iterate after it; end where no step decreases F."""
        here = first_iterate(objective, start)
        pairs = _Pairs(objective.manifold, self.memory)
        while True:
            yield here
            found = _step(objective, here, pairs)
            if found is None and pairs.count:
                pairs = _Pairs(objective.manifold, self.memory)
                found = _step(objective, here, pairs)
            if found is None:
                return
            pairs.move(here, found)
            here = found.iterate


def _step(objective: Objective, here: Iterate, pairs: "_Pairs") -> Found | None:
    direction = pairs.direction(here)
    if not float(objective.manifold.inner(here.point, here.gradient, direction)) < 0:
        return None
    return backtrack(objective, here, direction, 1.0 if pairs.count else 1 / here.gradient_norm)


class _Pairs:
    """Pairs (s, y) in the tangent space of the present point, oldest first."""

    def __init__(self, manifold: Manifold, memory: int) -> None:
        self._manifold = manifold
        self._memory = memory
        self._stack: Array = None  # s and y by turns, shape (2 * count, *shape)
        self._curvature: list[float] = []  # <s, y>
        self._scale = 1.0

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self._curvature)

    def direction(self, here: Iterate) -> Array:
        """Minus the approximate inverse Hessian times the gradient, by the two loops."""
        inner, x = self._manifold.inner, here.point
        q = -here.gradient
        shares = [0.0] * self.count
        for i in reversed(range(self.count)):
            s, y = self._stack[2 * i], self._stack[2 * i + 1]
            shares[i] = float(inner(x, s, q)) / self._curvature[i]
            q = q - shares[i] * y
        q = q * self._scale
        for i in range(self.count):
            s, y = self._stack[2 * i], self._stack[2 * i + 1]
            q = q + (shares[i] - float(inner(x, y, q)) / self._curvature[i]) * s
        return q

    def move(self, here: Iterate, found: Found) -> None:
        """Carry all pairs along the step, and add its own if it tells of positive curvature."""
        manifold, there = self._manifold, found.iterate
        x = there.point
        xp = array_namespace(x)
        old = here.gradient[None] if self._stack is None else self._with(here.gradient)
        moved = manifold.transport(here.point, x, old)
        length = there.step
        s = found.size / length * found.carried
        y = (there.gradient - moved[-1]) / length
        pairs = [moved[:-1]]
        sy, ss = float(manifold.inner(x, s, y)), float(manifold.inner(x, s, s))
        if sy >= _CAUTION * there.gradient_norm * ss and sy > 0:
            pairs.append(xp.stack([s, y]))
            self._scale = sy / float(manifold.inner(x, y, y))
        self._keep(x, xp.concat(pairs)[-2 * self._memory :])

    def _with(self, vector: Array) -> Array:
        return array_namespace(vector).concat([self._stack, vector[None]])

    def _keep(self, x: Array, stack: Array) -> None:
        """Keep the pairs whose curvature a transport that is no isometry has left positive."""
        self._stack, self._curvature = None, []
        if not stack.shape[0]:
            return
        curvature = [float(c) for c in self._manifold.inner(x, stack[::2], stack[1::2])]
        kept = [i for i, c in enumerate(curvature) if c > 0]
        if kept:
            rows = [row for i in kept for row in (2 * i, 2 * i + 1)]
            self._stack = stack if len(rows) == stack.shape[0] else stack[rows]
            self._curvature = [curvature[i] for i in kept]

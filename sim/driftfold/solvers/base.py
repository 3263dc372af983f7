"""Centralised solvers: one objective on one manifold, all data in one place."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Array
from driftfold.manifolds.base import Manifold
from driftfold.registry import family

Stop: TypeAlias = Literal["gradient", "iterations", "step", "no descent"]
"""Why a solver stopped: the gradient is short enough; all iterations are used; the last step was
too short; or no step along the steepest descent improves the value, as far as rounding can tell."""


@dataclass(frozen=True)
class Objective:
    """A smooth function F on a manifold.

    Attributes
    ----------
    manifold
        Where its points live.
    value
        F(x) of one point x, a float.
    gradient
        Riemannian gradient of F at one point x, in T_x M.
    """

    manifold: Manifold
    value: Callable[[Array], float]
    gradient: Callable[[Array], Array]


@dataclass(frozen=True)
class Iterate:
    """One point on a solver's way.

    Attributes
    ----------
    point, value, gradient
        x, F(x), and the gradient in T_x M.
    gradient_norm
        Length of the gradient in the metric at x.
    step
        Length of the step that led here, 0 at the start.
    evaluations
        Values of F computed so far.
    """

    point: Array
    value: float
    gradient: Array
    gradient_norm: float
    step: float = 0.0
    evaluations: int = 1


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Attributes
    ----------
    point, value, gradient_norm
        The last iterate, F there, and the length of the gradient there.
    iterations, evaluations
        Steps taken, and values of F computed.
    why
        Why the solver stopped.
    history
        (F, length of the gradient) at the start and after each step.
    """

    point: Array
    value: float
    gradient_norm: float
    iterations: int
    evaluations: int
    why: Stop
    history: tuple[tuple[float, float], ...]

    @property
    def converged(self) -> bool:
        """Whether the gradient is as short as was asked for."""
        return self.why == "gradient"


@family("solver")
@dataclass(frozen=True)
class Solver(ABC):
    """Configuration of a centralised solver.

    The defaults are those of Manopt (Boumal, Mishra, Absil, Sepulchre 2014), with which the
    experiments of RFedAGS compute F*.

    Attributes
    ----------
    tolerance
        Length of the gradient at which to stop.
    iterations
        Most steps to take.
    shortest_step
        Length of a step at which to stop; 0 never stops for it.
    """

    tolerance: Annotated[float, Ge(0)] = 1e-6
    iterations: Annotated[int, Gt(0)] = 1000
    shortest_step: Annotated[float, Ge(0)] = 1e-10

    @abstractmethod
    def path(self, objective: Objective, start: Array) -> Iterator[Iterate]:
        """Yield the start and every iterate after it; end where nothing more can be gained."""

    def minimise(
        self,
        objective: Objective,
        start: Array,
        watch: Callable[[Iterate], None] | None = None,
    ) -> Solution:
        """Follow the path from `start` until one of the rules says to stop.

        `watch` is shown the start and every iterate after it.
        """
        history = []
        why: Stop = "no descent"
        last = None
        with np.errstate(all="ignore"):  # what is not finite is not accepted
            for last in self.path(objective, start):
                history.append((last.value, last.gradient_norm))
                if watch is not None:
                    watch(last)
                reason = self._reason(last, len(history) - 1)
                if reason is not None:
                    why = reason
                    break
        assert last is not None
        return Solution(
            point=last.point,
            value=last.value,
            gradient_norm=last.gradient_norm,
            iterations=len(history) - 1,
            evaluations=last.evaluations,
            why=why,
            history=tuple(history),
        )

    def _reason(self, last: Iterate, taken: int) -> Stop | None:
        if last.gradient_norm <= self.tolerance:
            return "gradient"
        if taken >= self.iterations:
            return "iterations"
        if taken and last.step < self.shortest_step:
            return "step"
        return None


def first_iterate(objective: Objective, start: Array) -> Iterate:
    """Return the start with its value and gradient."""
    gradient = objective.gradient(start)
    norm = float(objective.manifold.norm(start, gradient))
    return Iterate(start, float(objective.value(start)), gradient, norm)

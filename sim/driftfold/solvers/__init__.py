"""Centralised solvers on manifolds: baselines, and the source of a problem's optimum F*."""

from driftfold.solvers.base import Iterate, Objective, Solution, Solver, Stop
from driftfold.solvers.lrbfgs import Lrbfgs
from driftfold.solvers.rcg import Rcg
from driftfold.solvers.rsd import Rsd

__all__ = ["Iterate", "Lrbfgs", "Objective", "Rcg", "Rsd", "Solution", "Solver", "Stop"]

"""`driftfold solve`: the centralised baseline of an experiment's task."""

import json
from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import Any

import typer

from driftfold.arrays import Array
from driftfold.registry import lookup
from driftfold.rng import Seed
from driftfold.solvers.base import Solver
from driftfold.spec import digest, load_plugins, load_spec
from driftfold.tasks.base import Problem
from driftfold.tasks.centralised import solve
from driftfold.telemetry.json_form import to_json_number
from driftfold_api.failures import Outcome
from driftfold_api.solver_progress import SolverProgress, solver_progress

_WHY = {
    "gradient": "the gradient is short enough",
    "iterations": "all iterations are used",
    "step": "the last step was too short",
    "no descent": "no step improves the value any more",
    "interrupted": "interrupted; this is the best so far",
}


@dataclass(frozen=True)
class SolveRequest:
    """What was asked for on the command line; the fields are those of `driftfold solve`."""

    source: str
    method: str = "lrbfgs"
    tolerance: float = 1e-10
    iterations: int = 1000
    settings: tuple[str, ...] = ()
    as_json: bool = False
    plugins: tuple[str, ...] = ()


def solve_spec(request: SolveRequest) -> None:
    """Solve the task of a specification with all its data in one place, and print what was found.

    An interrupt prints the best point so far, and exits with 130. Raises `SpecError` or `DataError`
    when the task cannot be built, or the method is unknown.
    """
    from threadpoolctl import threadpool_limits

    load_plugins(request.plugins)
    spec = load_spec(request.source, overrides=request.settings)
    solver = _solver(request)
    with threadpool_limits(1):
        started = perf_counter()
        shown = solver_progress(request.as_json)
        with shown:
            problem = spec.task.build(Seed(spec.seed))
            ready = perf_counter()
            solution = _minimise(problem, solver, shown)
        done = perf_counter()
        known = {field.name: getattr(solver, field.name) for field in fields(solver)}
        told = {
            "spec_digest": digest(spec),
            "method": {"kind": request.method, **known},
            **_found(problem, solution),
            "timing": {"setup": ready - started, "solve": done - ready},
        }
    typer.echo(json.dumps(told, indent=2) if request.as_json else _table(told, request))
    if told["why"] == "interrupted":
        raise typer.Exit(Outcome.INTERRUPTED)


@dataclass(frozen=True)
class _Found:
    """What is known of a point, whether the solver ended there or was interrupted."""

    point: Array
    value: float
    gradient_norm: float
    iterations: int
    evaluations: int
    why: str


def _minimise(problem: Problem, solver: Solver, shown: SolverProgress) -> _Found:
    try:
        end = solve(problem, solver, watch=shown)
    except KeyboardInterrupt:
        best = shown.best
        if best is None:
            raise
        known = (best.point, best.value, best.gradient_norm, shown.iterations, best.evaluations)
        return _Found(*known, "interrupted")
    known = (end.point, end.value, end.gradient_norm, end.iterations, end.evaluations)
    return _Found(*known, end.why)


def _solver(request: SolveRequest) -> Solver:
    solver: Solver = lookup("solver", request.method)()
    return replace(
        solver,
        tolerance=request.tolerance,
        iterations=request.iterations,
        shortest_step=0.0,
    )


def _found(problem: Problem, solution: _Found) -> dict[str, Any]:
    metrics = problem.evaluate(solution.point, time=0.0)
    return {
        "value": to_json_number(solution.value),
        "gradient_norm": to_json_number(solution.gradient_norm),
        "iterations": solution.iterations,
        "evaluations": solution.evaluations,
        "why": solution.why,
        "metrics": {name: to_json_number(figure) for name, figure in metrics.items()},
    }


def _table(told: dict[str, Any], request: SolveRequest) -> str:
    rows = {
        "method": request.method,
        "value": f"{float(told['value']):.12g}",
        "gradient norm": f"{float(told['gradient_norm']):.3g}",
        "iterations": f"{told['iterations']:,}, with {told['evaluations']:,} evaluations",
        "stopped": _WHY[told["why"]],
        "time": "{solve:.2f} s, and {setup:.2f} s for the data".format(**told["timing"]),
    }
    rows |= {
        name: f"{float(figure):.6g}" for name, figure in told["metrics"].items() if name != "loss"
    }
    width = max(map(len, rows))
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows.items())

"""Sends a sweep to the service."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import typer

from driftfold.spec import load_plugins, load_spec
from driftfold_api.errors import RequestError
from driftfold_api.group_watching import watch_group
from driftfold_api.reaching import reach
from driftfold_api.sweeping.typed import parse_grid, parse_random


@dataclass(frozen=True)
class SweepRequest:
    """What was typed; see `sweep_command`."""

    source: str
    settings: tuple[str, ...]
    grid: tuple[str, ...]
    random: tuple[str, ...]
    samples: int | None
    samples_seed: int
    seeds: int | None
    stop_by: str | None
    target: float | None
    goal: Literal["min", "max"]
    name: str | None
    priority: int
    watch: bool
    url: str | None
    as_json: bool
    plugins: tuple[str, ...]


def submit_sweep(request: SweepRequest) -> None:
    """Check the specification here, submit the sweep, and show the group, or its life."""
    load_plugins(request.plugins)
    spec = load_spec(request.source, overrides=request.settings)
    points, stop = points_of(request), stop_of(request)
    with reach(request.url) as client:
        group = client.sweep(spec, points, stop=stop, name=request.name, priority=request.priority)
    if request.watch:
        typer.echo(f"group {group.id}", err=True)
        watch_group(group, request.url, request.as_json)
    elif request.as_json:
        typer.echo(group.model_dump_json())
    else:
        typer.echo(f"{group.id}  {group.progress.jobs} jobs")
        typer.echo(f"watch it with: driftfold watch {group.id}", err=True)


def points_of(request: SweepRequest) -> dict[str, Any]:
    """Return the points that were asked for, as the API takes them."""
    if bool(request.random) != (request.samples is not None):
        given, lacking = ("random", "samples") if request.random else ("samples", "random")
        raise RequestError(
            f"got --{given} without --{lacking}; give both, as --random algorithm.steps=1..20 "
            "--samples 10, or none"
        )
    points: dict[str, Any] = {}
    if request.grid:
        points["grid"] = parse_grid(request.grid)
    if request.random:
        points |= {"random": parse_random(request.random), "samples": request.samples}
        points["seed"] = request.samples_seed
    if request.seeds is not None:
        points["seeds"] = list(range(request.seeds))
    return points


def stop_of(request: SweepRequest) -> dict[str, Any] | None:
    """Return by which rule jobs are stopped, as the API takes it; None for no rule."""
    if request.stop_by is None:
        if request.target is not None:
            raise RequestError(
                f"got --target {request.target:g} without --stop-by; name the metric that is to "
                f"reach it, as --stop-by gap --target {request.target:g}"
            )
        return None
    if request.target is not None and not math.isfinite(request.target):
        raise RequestError(f"got --target {request.target}, wanted a finite number")
    rule = {"metric": request.stop_by, "goal": request.goal}
    if request.target is None:
        return {"kind": "median", **rule}
    return {"kind": "target", "value": request.target, **rule}

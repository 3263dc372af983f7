"""Sends a sweep to the service."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import typer

from driftfold.spec import load_plugins, load_spec
from driftfold.spec.overrides import parse_overrides
from driftfold_api.errors import RequestError
from driftfold_api.group_watching import watch_group
from driftfold_api.reaching import reach


@dataclass(frozen=True)
class SweepRequest:
    """What was typed; see `sweep_command`."""

    source: str
    settings: tuple[str, ...]
    grid: tuple[str, ...]
    seeds: int | None
    stop_by: str | None
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
    points: dict[str, Any] = {}
    if request.grid:
        points["grid"] = parse_grid(request.grid)
    if request.seeds is not None:
        points["seeds"] = list(range(request.seeds))
    stop = None
    if request.stop_by is not None:
        stop = {"kind": "median", "metric": request.stop_by, "goal": request.goal}
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


def parse_grid(settings: Iterable[str]) -> dict[str, list[Any]]:
    """Return values by paths of fields.

    >>> parse_grid(["algorithm.steps=1,5", "optimizer=sgd,{kind='momentum', beta=0.9}"])
    {'algorithm.steps': [1, 5], 'optimizer': ['sgd', {'kind': 'momentum', 'beta': 0.9}]}
    """
    grid: dict[str, list[Any]] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals or not path or not text:
            raise RequestError(f"--grid: got {setting!r}, wanted FIELD=VALUE,VALUE,...")
        grid[path] = _values(text)
    return grid


def _values(text: str) -> list[Any]:
    try:
        values: list[Any] = tomllib.loads(f"x = [{text}]")["x"]
    except ValueError:  # words without quotation marks
        return [parse_overrides([f"x={part.strip()}"])["x"] for part in _parts(text)]
    return values


def _parts(text: str) -> list[str]:
    """Return what stands between the commas that are in no bracket."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts

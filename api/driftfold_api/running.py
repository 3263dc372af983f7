"""`driftfold run`: run or resume an experiment in a folder, and show its result."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from driftfold import presets
from driftfold.errors import DataError, SpecError
from driftfold.folder import CHECKPOINTS, SPEC
from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import JobSpec, load_plugins, load_spec
from driftfold_api.errors import RequestError
from driftfold_api.failures import Outcome
from driftfold_api.folders import PLOT, abandon, default_folder, prepare
from driftfold_api.progress import Progress, progress
from driftfold_api.report import print_result


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line; the fields are those of `driftfold run`."""

    source: str
    settings: tuple[str, ...] = ()
    folder: Path | None = None
    resume: bool = False
    overwrite: bool = False
    as_json: bool = False
    quiet: bool = False
    plot: bool = True
    plugins: tuple[str, ...] = ()


def run_experiment(request: Request) -> None:
    """Carry the request out."""
    load_plugins(request.plugins)
    spec, folder = _open(request)
    new = prepare(folder, spec, resume=request.resume, overwrite=request.overwrite)
    if request.resume and not request.quiet and not any((folder / CHECKPOINTS).glob("*")):
        typer.echo(f"no snapshot in {folder} to resume from; starting at round 0", err=True)
    title = spec.name or folder.name
    shown = progress(spec.horizon, title, request.quiet)
    try:
        with shown:
            result = run(spec, folder=folder, resume=request.resume, sinks=[shown])
    except (SpecError, DataError):
        abandon(folder, new)
        raise
    except KeyboardInterrupt:
        typer.echo(_how_to_go_on(request, spec, folder, shown), err=True)
        raise typer.Exit(Outcome.INTERRUPTED) from None
    plot = _plot(folder, title) if request.plot else None
    if request.as_json:
        typer.echo(json.dumps(report(result, title, folder, plot), allow_nan=False))
    else:
        print_result(result, title, folder, plot)


def report(result: Result, name: str, folder: Path, plot: Path | None) -> dict[str, Any]:
    """Return what ``--json`` prints: the result, and where its files are."""
    where = {"folder": str(folder), "plot": None if plot is None else str(plot)}
    return {"name": name, **result.to_json(), **where}


def _open(request: Request) -> tuple[JobSpec, Path]:
    path = Path(request.source)
    if path.is_dir() and request.source not in presets.names():
        if not (path / SPEC).is_file():
            raise RequestError(f"{path}: a folder without {SPEC}; give the folder of a run")
        if not (request.resume or request.overwrite):
            raise RequestError(f"{path}: a run's folder; continue it with --resume")
        spec = load_spec(path / SPEC, overrides=request.settings)
        return spec, request.folder or path
    if request.resume and not path.exists() and request.source not in presets.names():
        raise RequestError(
            f"{path}: there is no such folder; give the folder of the run that is to go on, or its "
            "specification"
        )
    spec = load_spec(request.source, overrides=request.settings)
    return spec, request.folder or default_folder(spec, request.source)


def _plot(folder: Path, title: str) -> Path | None:
    from driftfold.telemetry.reader import read_records
    from driftfold_api.plots import plot_runs

    records = read_records(folder)
    if not any(record.kind == "evaluation" for record in records):
        return None
    return plot_runs({title: records}, folder / PLOT)


def _how_to_go_on(request: Request, spec: JobSpec, folder: Path, shown: Progress) -> str:
    plugins = [word for name in request.plugins for word in ("--plugin", name)]
    words = shlex.join(["driftfold", "run", str(folder), "--resume", *plugins])
    start = (
        f"from the newest of its snapshots (one in {spec.checkpoint_every} rounds)"
        if spec.checkpoint_every
        else "from the start, since checkpoint_every = 0 takes no snapshots"
    )
    return f"interrupted at round {shown.rounds}; continue {start}: {words}"

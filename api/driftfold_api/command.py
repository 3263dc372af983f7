"""The command `driftfold`: what can be typed, and where it leads.

Each subcommand's work is in a file of its own, imported when it is asked for, so that help and
listings answer at once.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

try:
    import typer

    from driftfold import __version__
    from driftfold_api import (
        data_command,
        jobs_command,
        repeat_command,
        study_command,
        submit_command,
        sweep_command,
    )
    from driftfold_api.failures import Outcome, tell
    from driftfold_api.options import (
        Attempts,
        Data,
        Json,
        Lease,
        LogFormat,
        LogLevel,
        Memory,
        Parent,
        Plugins,
        Runs,
        Settings,
        Slots,
        Spec,
    )
    from driftfold_workers.observing.logs import Format, Level
except KeyboardInterrupt:  # before `main` can tell it
    print("interrupted", file=sys.stderr)
    sys.exit(130)

app = typer.Typer(
    name="driftfold",
    help="Federated learning on fleets that come and go, simulated in virtual time.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(data_command.data)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error, too.")
    ] = False,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Take what holds for every subcommand; `main` has already read `--debug`."""
    if version:
        typer.echo(f"driftfold {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def run(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help="A .toml, .yaml or .json file, a preset's name, or a run's folder (to resume it).",
        ),
    ],
    settings: Settings = [],  # noqa: B006 - typer reads the default and never changes it
    seed: Annotated[int | None, typer.Option(help="Root of all randomness.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where to write; default runs/NAME-DIGEST-sSEED.", show_default=False),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest snapshot in the folder.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run that the folder holds.")
    ] = False,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    plot: Annotated[bool, typer.Option(help="Draw the run's plot when it ends.")] = True,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Run an experiment, and show its result."""
    from driftfold_api.running import Request, run_experiment

    chosen = settings if seed is None else [*settings, f"seed={seed}"]
    run_experiment(
        Request(
            source=spec,
            settings=tuple(chosen),
            folder=folder,
            resume=resume,
            overwrite=overwrite,
            as_json=as_json,
            quiet=quiet,
            plot=plot,
            plugins=tuple(plugins),
        )
    )


@app.command()
def kinds(
    family: Annotated[
        str | None, typer.Argument(metavar="FAMILY", help="Only this family, e.g. task.")
    ] = None,
    as_json: Json = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """List every kind that a specification can name, with its fields."""
    from driftfold_api.listing import list_kinds

    list_kinds(family, as_json, plugins)


@app.command()
def presets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show the file of this one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the presets: experiments to run or to extend; `validate NAME --json` fills them in."""
    from driftfold_api.listing import list_presets, show_preset

    if name is None:
        list_presets(as_json)
    else:
        show_preset(name, as_json)


@app.command()
def validate(
    spec: Spec,
    settings: Settings = [],  # noqa: B006
    build: Annotated[
        bool, typer.Option("--build", help="Load the data, too, and check that all parts fit.")
    ] = False,
    as_json: Json = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Check a specification without running it, and show its digest."""
    from driftfold_api.validating import validate_spec

    validate_spec(spec, settings, build, as_json, plugins)


@app.command()
def solve(
    spec: Spec,
    method: Annotated[str, typer.Option(help="A kind of solver: lrbfgs, rcg or rsd.")] = "lrbfgs",
    tolerance: Annotated[
        float,
        typer.Option(
            min=0,
            help="Length of the gradient at which to stop, whatever the solver's own default is; "
            "F* is computed with it, too.",
        ),
    ] = 1e-10,
    iterations: Annotated[int, typer.Option(min=1, help="Most steps to take.")] = 1000,
    settings: Settings = [],  # noqa: B006
    as_json: Json = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Solve an experiment's task with all its data in one place: the centralised baseline."""
    from driftfold_api.solving import SolveRequest, solve_spec

    solve_spec(
        SolveRequest(
            source=spec,
            method=method,
            tolerance=tolerance,
            iterations=iterations,
            settings=tuple(settings),
            as_json=as_json,
            plugins=tuple(plugins),
        )
    )


app.command()(study_command.study)


@app.command()
def plot(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs; seeds are grouped.")
    ],
    metric: Annotated[
        str | None, typer.Option(help="What to draw; default gap, or loss where there is no gap.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write, .png or .svg.", show_default="plot.png")
    ] = None,
) -> None:
    """Draw a metric of runs against rounds and against virtual time."""
    from driftfold_api.plotting import plot_folders

    plot_folders(runs, metric, out)


app.command()(submit_command.submit)
app.command()(sweep_command.sweep)


for command in (*jobs_command.COMMANDS, *repeat_command.COMMANDS):
    app.command()(command)
app.command(name="list")(jobs_command.list_)


@app.command()
def serve(
    runs: Runs = None,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    allowed_host: Annotated[
        list[str],
        typer.Option(
            metavar="NAME", help="Another name that this service is asked by, as through a proxy."
        ),
    ] = [],  # noqa: B006
    workers: Annotated[int, typer.Option(min=0, help="Workers to start.")] = 1,
    slots: Slots = 1,
    lease: Lease = 15.0,
    attempts: Attempts = 5,
    data: Data = [],  # noqa: B006
    memory: Memory = None,
    archive: Annotated[
        str | None, typer.Option(envvar="DRIFTFOLD_ARCHIVE", help="Keep jobs there: an SQL URL.")
    ] = None,
    log_format: LogFormat = Format.TEXT,
    log_level: LogLevel = None,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Take over the job store of an archive that is lost."),
    ] = False,
    keep_days: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Forget jobs that are over for longer; by itself none.",
            show_default=False,
        ),
    ] = None,
    queue_limit: Annotated[
        int, typer.Option(min=1, help="Jobs that may be queued; more are refused.")
    ] = 100_000,
    as_json: Json = False,
    plugins: Plugins = [],  # noqa: B006
    parent: Parent = None,
) -> None:
    """Serve: job store, API, page and workers. Ctrl-C stops them all."""
    from driftfold_api.addresses import runs_place
    from driftfold_api.serving import ServeRequest
    from driftfold_api.serving import serve as begin

    begin(
        ServeRequest(
            runs=runs_place(runs),
            host=host,
            port=port,
            allowed_hosts=tuple(allowed_host),
            workers=workers,
            slots=slots,
            lease=lease,
            attempts=attempts,
            data=tuple(data),
            memory=memory,
            archive=archive,
            adopt=adopt,
            keep_days=keep_days,
            queue_limit=queue_limit,
            plugins=tuple(plugins),
            log_format=log_format,
            log_level=log_level,
            as_json=as_json,
            parent=parent,
        )
    )


@app.command()
def worker(
    runs: Runs = None,
    slots: Slots = 1,
    lease: Lease = 15.0,
    attempts: Attempts = 5,
    name: Annotated[str | None, typer.Option(help="Different from that of all others.")] = None,
    data: Data = [],  # noqa: B006
    memory: Memory = None,
    plugins: Plugins = [],  # noqa: B006
    metrics_port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Tell Prometheus there.", show_default=False),
    ] = None,
    log_format: LogFormat = Format.TEXT,
    log_level: LogLevel = None,
    parent: Parent = None,
) -> None:
    """Run jobs of the service of a folder of runs, or of the job store that REDIS_URL names."""
    from driftfold_api.addresses import runs_place
    from driftfold_api.working import WorkerRequest, work

    work(
        WorkerRequest(
            runs=runs_place(runs),
            slots=slots,
            lease=lease,
            data=tuple(data),
            memory=memory,
            attempts=attempts,
            plugins=tuple(plugins),
            name=name,
            metrics_port=metrics_port,
            log_format=log_format,
            log_level=log_level or Level.INFO,
            parent=parent,
        )
    )


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what this installation offers: kernels, engines, linear algebra, server, data."""
    from driftfold_api.doctor import show

    show(as_json)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 done, 1 the run failed, 2 bad input, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    if debug:
        given.remove("--debug")  # taken wherever it stands: people add it at the end
    try:
        code = app(given, prog_name="driftfold", standalone_mode=False)
    except BaseException as error:
        sys.exit(tell(error, debug))
    sys.exit(code if isinstance(code, int) else Outcome.DONE)


if __name__ == "__main__":
    main()

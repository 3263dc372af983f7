"""The command `driftfold`: what can be typed, and where it leads.

Each subcommand's work is in a file of its own, imported when it is asked for, so that help and
listings answer at once.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from driftfold import __version__
from driftfold_api.failures import Outcome, tell

app = typer.Typer(
    name="driftfold",
    help="Federated learning on fleets that come and go, simulated in virtual time.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Spec = Annotated[
    str, typer.Argument(metavar="SPEC", help="A .toml, .yaml or .json file, or a preset's name.")
]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="FIELD=VALUE", help="Change a field, e.g. algorithm.steps=10."),
]
Plugins = Annotated[
    list[str],
    typer.Option("--plugin", metavar="NAME", help="Load kinds from a module or a .py file."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


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
def presets(as_json: Json = False) -> None:
    """List the presets: experiments to run or to extend."""
    from driftfold_api.listing import list_presets

    list_presets(as_json)


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

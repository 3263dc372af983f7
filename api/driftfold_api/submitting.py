"""`driftfold submit`: send an experiment to the service."""

from collections.abc import Iterable

import typer

from driftfold.spec import load_plugins, load_spec
from driftfold_api.reaching import reach
from driftfold_api.watching import follow


def submit_spec(
    source: str,
    settings: Iterable[str],
    name: str | None,
    url: str | None,
    watch: bool,
    as_json: bool,
    plugins: Iterable[str],
) -> None:
    """Check a specification here, submit it, and show the job, or its life until the end."""
    load_plugins(plugins)
    spec = load_spec(source, overrides=settings)
    with reach(url) as client:
        job = client.submit(spec, name=name)
    if watch:
        typer.echo(f"job {job.id}", err=True)
        follow(job, url, as_json)
    elif as_json:
        typer.echo(job.model_dump_json())
    else:
        reason = f": {job.reason}" if job.reason else ""
        typer.echo(f"{job.id}  {job.state}{reason}")
        typer.echo(f"watch it with: driftfold watch {job.id}", err=True)

"""`driftfold retry` and `clone`: jobs that do again what others did."""

from collections.abc import Iterable
from datetime import UTC, datetime

import typer

from driftfold.spec.overrides import parse_overrides
from driftfold_api.client.calls import Start
from driftfold_api.models import JobDetail
from driftfold_api.reaching import reach
from driftfold_api.repeat_models import Replay


def retry_job(job: str, start: Start, url: str | None, as_json: bool) -> None:
    """Try a job again, and show the new one."""
    with reach(url) as client:
        _show(client.retry(job, start=start), as_json)


def retry_dead(start: Start, url: str | None, as_json: bool) -> None:
    """Try all dead jobs again that were not yet, and show by which jobs."""
    now, replayed, refused = datetime.now(UTC), [], []
    with reach(url) as client:
        more = True
        while more:
            part = client.replay(before=now, start=start)
            replayed += part.replayed
            refused += part.refused
            more = part.more and bool(part.replayed)
    if as_json:
        typer.echo(Replay(replayed=replayed, refused=refused, more=False).model_dump_json())
        return
    for each in replayed:
        typer.echo(f"{each.job}  tried again by {each.by}")
    for told in refused:
        typer.echo(f"{told.job}  {told.detail}", err=True)
    if not replayed and not refused:
        typer.echo("no dead jobs that were not tried again", err=True)


def clone_job(
    job: str, settings: Iterable[str], name: str | None, url: str | None, as_json: bool
) -> None:
    """Make a copy of a job, and show it."""
    with reach(url) as client:
        _show(client.clone(job, parse_overrides(settings), name=name), as_json)


def _show(job: JobDetail, as_json: bool) -> None:
    if as_json:
        typer.echo(job.model_dump_json())
        return
    typer.echo(f"{job.id}  {job.state}{f': {job.reason}' if job.reason else ''}")
    typer.echo(f"watch it with: driftfold watch {job.id}", err=True)

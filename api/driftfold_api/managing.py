"""`driftfold list`, `cancel`, `pause`, `resume` and `result`: the jobs of the service."""

import json
from datetime import datetime
from itertools import islice

import typer

from driftfold_api.errors import Refused, RequestError
from driftfold_api.models import JobView
from driftfold_api.progress import duration
from driftfold_api.reaching import reach
from driftfold_api.report import print_table, used
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.new_id import is_id


def list_jobs(
    url: str | None, state: str | None, limit: int, as_json: bool, dead: bool = False
) -> None:
    """Print jobs, newest first."""
    wanted = _state(state)
    with reach(url) as client:
        jobs = list(islice(client.list(state=wanted, dead=dead), limit))
    if as_json:
        typer.echo(json.dumps([job.model_dump(mode="json") for job in jobs], indent=2))
        return
    if not jobs:
        kind = "dead " if dead else "" if state is None else f"{state} "
        typer.echo(f"no {kind}jobs", err=True)
    for job in jobs:
        typer.echo(_line(job))


def cancel_job(job: str, url: str | None, as_json: bool) -> None:
    """Cancel a job, or the jobs of a group, and print what that came to."""
    with reach(url) as client:
        try:
            told = client.cancel(job)
        except Refused as error:
            if error.type != "/problems/unknown-job" or not is_id(job):
                raise
            try:
                group = client.cancel_group(job)
            except Refused as other:
                raise (error if other.status == 404 else other) from None
            typer.echo(group.model_dump_json() if as_json else f"group {job} is being canceled")
            return
    if as_json:
        typer.echo(told.model_dump_json())
    elif told.state is State.CANCELED:
        typer.echo(f"job {told.id} is canceled")
    elif told.reason:
        typer.echo(f"job {told.id} is canceling: {told.reason}")
    else:
        typer.echo(f"job {told.id} stops at the end of its round")


def pause_job(job: str, url: str | None, as_json: bool) -> None:
    """Pause a job and print what that came to."""
    with reach(url) as client:
        told = client.pause(job)
    if as_json:
        typer.echo(told.model_dump_json())
    elif told.state is State.PAUSED:
        typer.echo(f"job {told.id} is paused; go on with: driftfold resume {told.id}")
    else:
        how = told.reason or "it is paused at the end of its round"
        typer.echo(f"job {told.id} {how.removeprefix('it ')}")


def resume_job(job: str, url: str | None, as_json: bool) -> None:
    """Resume a job and print what that came to."""
    with reach(url) as client:
        told = client.resume(job)
    if as_json:
        typer.echo(told.model_dump_json())
    else:
        typer.echo(f"job {told.id} is {told.state}{f': {told.reason}' if told.reason else ''}")


def show_result(job: str, url: str | None, as_json: bool) -> None:
    """Print the result of a job that has succeeded."""
    with reach(url) as client:
        told, result = client.get(job), client.result(job)
    if as_json:
        typer.echo(json.dumps(result))
    else:
        print_table(result, told.name or told.id, {"used": used(told), "job": told.id})


def _state(name: str | None) -> State | None:
    try:
        return None if name is None else State(name)
    except ValueError:
        raise RequestError(f"got --state {name!r}, wanted one of: {', '.join(State)}") from None


def _line(job: JobView) -> str:
    reached = job.progress
    of = "" if reached.horizon_rounds is None else f"/{reached.horizon_rounds}"
    took = ""
    if job.started is not None:
        end = job.finished or datetime.now(job.started.tzinfo)
        took = duration(max(0.0, (end - job.started).total_seconds()))
    parts = [job.id, f"{job.state:<9}", f"{f'{reached.rounds}{of}':>11}", f"{took:>8}"]
    again = f"; tried again by {job.retried_by}" if job.retried_by else ""
    reason = f"  ({job.reason}{again})" if job.reason or again else ""
    return f"{'  '.join(parts)}  {job.name}{reason}".rstrip()

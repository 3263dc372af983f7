"""`driftfold watch`: the progress of a job, live, and its result."""

import json
from typing import Any

import typer

from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_json
from driftfold.world.policy import Horizon
from driftfold_api.client import Client
from driftfold_api.failures import Outcome
from driftfold_api.models import JobDetail, Lifecycle
from driftfold_api.progress import progress
from driftfold_api.reaching import reach
from driftfold_api.report import print_table
from driftfold_workers.job import State

TOLD = {"lost", "released", "resumed", "cancel-requested"}
"""Lifecycle events that somebody who watches wants to hear of."""

GIVEN_UP = {"lost", "released"}
"""Lifecycle events after which a job is queued."""


def watch_job(job: str, url: str | None, as_json: bool) -> None:
    """Show a job until it is over."""
    with reach(url) as client:
        known = client.get(job)
    with reach(url, insist=True) as client:
        follow(client, known, as_json)


def follow(client: Client, job: JobDetail, as_json: bool) -> None:
    """Show a job until it is over; exit with 1 unless it succeeds.

    As JSON each record is a line, and the last line is the job with its result.
    """
    limits: Any = job.spec.get("horizon", {})
    horizon = Horizon(rounds=limits.get("rounds"), seconds=limits.get("seconds"))
    try:
        with progress(horizon, job.name or job.id[:8], quiet=as_json) as shown:
            _say_what_it_waits_for(client, job)
            for event in client.watch(job.id):
                if isinstance(event, Record):
                    shown.emit(event)
                    if as_json:
                        typer.echo(json.dumps(to_json(event), allow_nan=False))
                elif isinstance(event, Lifecycle) and event.kind in TOLD:
                    if not as_json:
                        typer.echo(_sentence(event), err=True)
                    if event.kind in GIVEN_UP:
                        _say_what_it_waits_for(client, job)
    except KeyboardInterrupt:
        typer.echo(f"job {job.id} goes on; see it again with: driftfold watch {job.id}", err=True)
        raise typer.Exit(Outcome.INTERRUPTED) from None
    job = client.get(job.id)
    succeeded = job.state is State.SUCCEEDED
    result = client.result(job.id) if succeeded else None
    if as_json:
        typer.echo(json.dumps({**job.model_dump(mode="json"), "result": result}))
    elif result is not None:
        print_table(result, job.name or job.id, {"job": job.id})
    else:
        typer.echo(f"job {job.id} has {job.state}{f': {job.reason}' if job.reason else ''}")
    if not succeeded:
        raise typer.Exit(Outcome.FAILED)


def _say_what_it_waits_for(client: Client, job: JobDetail) -> None:
    """Say why a queued job does not begin: no worker is there, or none has its kinds."""
    if job.state.final:
        return
    now = client.get(job.id)
    if now.state is State.QUEUED and now.reason:
        typer.echo(f"job {job.id} waits: {now.reason}", err=True)


def _sentence(event: Lifecycle) -> str:
    facts = event.facts
    worker, seq, reason = (facts.get(name, "") for name in ("worker", "seq", "reason"))
    why = f": {reason}" if reason and reason != event.kind else ""
    match event.kind:
        case "lost":
            return f"worker {worker} was lost after record {seq}{why}"
        case "released":
            return f"worker {worker} gave the job back after record {seq}{why}"
        case "resumed":
            return f"worker {worker} goes on, attempt {facts.get('attempt', '?')}"
    return "asked to cancel: it stops at the end of the round"

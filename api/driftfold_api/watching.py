"""`driftfold watch`: the progress of a job, live, and its result."""

import json
from typing import Any

import typer

from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_json
from driftfold.world.policy import Horizon
from driftfold_api.client import Client
from driftfold_api.failures import Outcome
from driftfold_api.models import JobDetail, Lifecycle, Waiting
from driftfold_api.progress import progress
from driftfold_api.reaching import reach
from driftfold_api.report import print_table
from driftfold_workers.job import State


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
            for event in client.watch(job.id):
                if isinstance(event, Record):
                    shown.emit(event)
                    if as_json:
                        typer.echo(json.dumps(to_json(event), allow_nan=False))
                elif isinstance(event, Lifecycle):
                    if not as_json and (sentence := _sentence(event)):
                        typer.echo(sentence, err=True)
                # Of a pause the end of the attempt before it has told.
                elif isinstance(event, Waiting) and event.reason and event.due is None:
                    typer.echo(f"job {job.id} waits: {event.reason}", err=True)
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


def _sentence(event: Lifecycle) -> str:
    """Say what happened; "" for what nobody who watches needs to hear."""
    facts = event.facts
    attempt, worker = f"attempt {facts.get('attempt', '?')}", f"worker {facts.get('worker', '?')}"
    match event.kind:
        case "lost" | "released":
            outcome, reason = facts.get("outcome", event.kind), facts.get("reason", "")
            why = f": {reason}" if reason and reason != outcome else ""
            retry = f"; retry in {facts['retry']:g} s" if "retry" in facts else ""
            seq = facts.get("seq", 0)
            return f"{attempt} by {worker} ended after record {seq}: {outcome}{why}{retry}"
        case "resumed":
            return f"{worker} takes over from the last snapshot: {attempt}"
        case "claimed" if facts.get("epoch", 1) > 1:
            return f"{worker} takes over from the beginning: {attempt}"
        case "cancel-requested":
            return "asked to cancel: it stops at the end of the round"
    return ""

"""`driftfold watch`: the progress of a job, live, and its result."""

import json
from typing import Any

import typer

from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_json
from driftfold.world.policy import Horizon
from driftfold_api.client import Client
from driftfold_api.errors import Refused
from driftfold_api.failures import Outcome
from driftfold_api.group_watching import watch_group
from driftfold_api.models import JobDetail, Lifecycle, Waiting
from driftfold_api.progress import Progress, progress
from driftfold_api.reaching import reach, say
from driftfold_api.report import print_table, used
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.new_id import is_id


def watch_job(job: str, url: str | None, as_json: bool) -> None:
    """Show a job, or a group, until it is over."""
    with reach(url) as client:
        try:
            known = client.get(job)
        except Refused as error:
            if error.type != "/problems/unknown-job" or not is_id(job):
                raise
            try:
                group = client.group(job)
            except Refused:
                raise error from None
            watch_group(group, url, as_json)
            return
    follow(known, url, as_json)


def follow(job: JobDetail, url: str | None, as_json: bool) -> None:
    """Show a job until it is over; exit with 1 unless it succeeds.

    As JSON each record is a line, and the last line is the job with its result.
    """
    limits: Any = job.spec.get("horizon", {})
    horizon = Horizon(rounds=limits.get("rounds"), seconds=limits.get("seconds"))
    shown = progress(horizon, job.name or job.id[:8], quiet=as_json)
    with reach(url, insist=True, tell=shown.say) as client:
        try:
            with shown:
                _show(client, job.id, shown, as_json)
        except KeyboardInterrupt:
            say(f"job {job.id} goes on; see it again with: driftfold watch {job.id}")
            raise typer.Exit(Outcome.INTERRUPTED) from None
        job = client.get(job.id)
        succeeded = job.state is State.SUCCEEDED
        result = client.result(job.id) if succeeded else None
    if as_json:
        typer.echo(json.dumps({**job.model_dump(mode="json"), "result": result}))
    elif result is not None:
        print_table(result, job.name or job.id, {"used": used(job), "job": job.id})
    else:
        became = "was canceled" if job.state is State.CANCELED else f"has {job.state}"
        typer.echo(f"job {job.id} {became}{f': {job.reason}' if job.reason else ''}")
        if amount := used(job):
            typer.echo(f"it has used {amount}", err=True)
    if not succeeded:
        raise typer.Exit(Outcome.FAILED)


def _show(client: Client, job: str, shown: Progress, as_json: bool) -> None:
    last, told = "", ""  # who had the job last, and why that ended
    for event in client.watch(job):
        if isinstance(event, Record):
            shown.emit(event)
            if as_json:
                typer.echo(json.dumps(to_json(event), allow_nan=False))
        elif isinstance(event, Lifecycle):
            if not as_json and (sentence := _sentence(event, last)):
                shown.say(sentence)
            last = event.facts.get("worker", last)
            told = event.facts.get("reason") or told
        # Of a pause, and of a loss, the end of the attempt before it has told.
        elif isinstance(event, Waiting) and event.due is None and event.reason not in ("", told):
            shown.say(f"job {job} waits: {event.reason}")


def _sentence(event: Lifecycle, last: str = "") -> str:
    """Say what happened; "" for what nobody who watches needs to hear.

    `last` is the worker that had the job before.
    """
    facts = event.facts
    attempt, worker = f"attempt {facts.get('attempt', '?')}", f"worker {facts.get('worker', '?')}"
    goes = "goes on" if facts.get("worker") == last else "takes over"
    match event.kind:
        case "lost" | "released":
            outcome, reason = facts.get("outcome", event.kind), facts.get("reason", "")
            why = f": {reason}" if reason and reason != outcome else ""
            retry = f"; retry in {facts['retry']:g} s" if "retry" in facts else ""
            seq = facts.get("seq", 0)
            return f"{attempt} by {worker} ended after record {seq}: {outcome}{why}{retry}"
        case "resumed":
            return f"{worker} {goes} from the last snapshot: {attempt}"
        case "claimed" if facts.get("epoch", 1) > 1:
            return f"{worker} {goes} from the beginning: {attempt}"
        case "diverged":
            computed = f"record {facts.get('record', '?')} was computed again"
            return f"{computed} and is another one: the job is not deterministic"
        case "cancel-requested":
            return "asked to cancel: it stops at the end of the round"
        case "pause-requested":
            return "asked to pause: it stops at the end of the round"
        case "paused":
            return "paused until somebody resumes it"
        case "unpaused":
            return "resumed: it is queued again"
    return ""

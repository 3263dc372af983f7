"""`driftfold watch GROUP`: the progress of many jobs, and what became of them."""

import time

import typer

from driftfold_api.client import Client
from driftfold_api.failures import Outcome
from driftfold_api.group_models import GroupDetail
from driftfold_api.reaching import reach, say
from driftfold_workers.jobs.job import State

EVERY = 1.0  # seconds


def watch_group(group: GroupDetail, url: str | None, as_json: bool) -> None:
    """Show a group until all of its jobs are over; exit with 1 if one has failed.

    As JSON the last line is the group.
    """
    told = ""
    with reach(url, insist=True) as client:
        try:
            while True:
                if not as_json and (line := in_short(group)) != told:
                    told = line
                    say(line)
                if group.done:
                    break
                time.sleep(EVERY)
                group = client.group(group.id)
        except KeyboardInterrupt:
            say(f"group {group.id} goes on; see it again with: driftfold watch {group.id}")
            raise typer.Exit(Outcome.INTERRUPTED) from None
        if as_json:
            typer.echo(group.model_dump_json())
        else:
            _conclude(client, group)
    if group.states.get(State.FAILED):
        raise typer.Exit(Outcome.FAILED)


def in_short(group: GroupDetail) -> str:
    """Return one line about a group: jobs that are over, jobs by state, rounds."""
    progress = group.progress
    states = ", ".join(f"{count} {state}" for state, count in sorted(group.states.items()))
    of = "" if progress.horizon_rounds is None else f"/{progress.horizon_rounds}"
    return f"{progress.finished}/{progress.jobs} jobs over ({states}); rounds {progress.rounds}{of}"


def _conclude(client: Client, group: GroupDetail) -> None:
    if group.ended:
        say(f"the rest was canceled: {group.ended}")
    after, complete = 0, False
    while not complete:
        page = client.group_jobs(group.id, after=after)
        for child in page.jobs:
            job = child.job
            reason = f"  ({job.reason})" if job.reason else ""
            typer.echo(f"{child.number:>5}  {job.id}  {job.state:<9}  {job.name}{reason}")
        after, complete = page.last, page.complete

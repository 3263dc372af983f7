"""`driftfold watch`, `list`, `cancel`, `pause`, `resume` and `result`: what can be typed."""

from typing import Annotated

import typer

from driftfold_api.options import Job, Json, Url


def watch(job: Job, url: Url = None, as_json: Json = False) -> None:
    """Show the progress of a job until it is over."""
    from driftfold_api.watching import watch_job

    watch_job(job, url, as_json)


def list_(
    state: Annotated[
        str | None,
        typer.Option(
            help="Only queued, running, canceling, paused, succeeded, failed or canceled ones."
        ),
    ] = None,
    dead: Annotated[
        bool, typer.Option("--dead", help="Only those that failed because attempts ran out.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List the jobs of the service, newest first."""
    from driftfold_api.managing import list_jobs

    list_jobs(url, state, limit, as_json, dead)


def cancel(job: Job, url: Url = None, as_json: Json = False) -> None:
    """Cancel a job: one that waits at once, a running one at the end of its round."""
    from driftfold_api.managing import cancel_job

    cancel_job(job, url, as_json)


def pause(job: Job, url: Url = None, as_json: Json = False) -> None:
    """Pause a job: a queued one at once, a running one at the end of its round."""
    from driftfold_api.managing import pause_job

    pause_job(job, url, as_json)


def resume(job: Job, url: Url = None, as_json: Json = False) -> None:
    """Resume a paused job: it takes its place in the queue, and goes on where it was."""
    from driftfold_api.managing import resume_job

    resume_job(job, url, as_json)


def result(job: Job, url: Url = None, as_json: Json = False) -> None:
    """Show the result of a job."""
    from driftfold_api.managing import show_result

    show_result(job, url, as_json)


COMMANDS = (watch, cancel, pause, resume, result)

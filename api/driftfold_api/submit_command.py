"""`driftfold submit`: what can be typed."""

from datetime import datetime
from typing import Annotated

import typer

from driftfold_api.errors import RequestError
from driftfold_api.options import Json, Plugins, Settings, Spec, Url


def submit(
    spec: Spec,
    settings: Settings = [],  # noqa: B006 - typer reads the default and never changes it
    name: Annotated[str | None, typer.Option(help="For people.")] = None,
    priority: Annotated[int, typer.Option(min=-100, max=100, help="Higher ones run first.")] = 0,
    delay: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Run it no earlier.", show_default=False),
    ] = None,
    not_before: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="The same, as 2030-01-31T08:00; local time.", show_default=False
        ),
    ] = None,
    attempts: Annotated[
        int | None,
        typer.Option(min=1, help="Attempts that it has; default its worker's.", show_default=False),
    ] = None,
    cpu_seconds: Annotated[
        float | None, typer.Option(min=0, help="CPU time that it may use.", show_default=False)
    ] = None,
    wall_seconds: Annotated[
        float | None, typer.Option(min=0, help="Time that it may run.", show_default=False)
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="MIB", help="Address space that it may use.", show_default=False
        ),
    ] = None,
    after: Annotated[
        list[str],
        typer.Option(metavar="JOB", help="Run it once this one has succeeded; may be repeated."),
    ] = [],  # noqa: B006
    watch: Annotated[bool, typer.Option("--watch", help="Show its progress to the end.")] = False,
    url: Url = None,
    as_json: Json = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Submit an experiment to the service, and show its job."""
    moment = _moment(not_before)
    if moment is not None and delay is not None:
        raise RequestError("got both --delay and --not-before; give one of them at most")

    from driftfold_api.submitting import submit_spec
    from driftfold_api.terms import LimitsGiven, TermsGiven

    terms = TermsGiven(
        priority=priority,
        delay_seconds=delay,
        not_before=moment,
        attempts=attempts,
        limits=LimitsGiven(cpu_seconds=cpu_seconds, wall_seconds=wall_seconds, memory_mib=memory),
        after=after,
    )
    submit_spec(spec, settings, name, terms, url, watch, as_json, plugins)


def _moment(text: str | None) -> datetime | None:
    """Return the time that a text tells; one without a zone is local.

    >>> _moment("2030-01-31T08:00+01:00").timestamp()
    1896073200.0
    """
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise RequestError(
            f"--not-before: got {text!r}, wanted a date and a time, as 2030-01-31T08:00 or "
            "2030-01-31T08:00+01:00"
        ) from error

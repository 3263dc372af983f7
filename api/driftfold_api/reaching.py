"""The client that commands use: it says what it waits for, and does not wait for long."""

import math
from collections.abc import Callable

import typer

from driftfold_api.addresses import service_url
from driftfold_api.client import Client

PATIENCE = 5.0  # seconds until a command gives up
ANSWER_WITHIN = 15.0  # seconds: a service waits 10 for its job store, and then says so


def say(sentence: str) -> None:
    """Say something on standard error."""
    typer.echo(sentence, err=True)


def reach(url: str | None, *, insist: bool = False, tell: Callable[[str], None] = say) -> Client:
    """Return a client of the service; `insist` never gives up once a watch has begun."""
    return Client(
        service_url(url),
        timeout=ANSWER_WITHIN,
        patience=math.inf if insist else PATIENCE,
        tell=tell,
    )

"""The client that commands use: it says what it waits for, and does not wait for long."""

import math

import typer

from driftfold_api.addresses import service_url
from driftfold_api.client import Client

PATIENCE = 5.0  # seconds until a command gives up
ANSWER_WITHIN = 15.0  # seconds: a service waits 10 for its job store, and then says so


def reach(url: str | None, *, insist: bool = False) -> Client:
    """Return a client of the service; `insist` never gives up once a watch has begun."""
    return Client(
        service_url(url),
        timeout=ANSWER_WITHIN,
        patience=math.inf if insist else PATIENCE,
        tell=lambda sentence: typer.echo(sentence, err=True),
    )

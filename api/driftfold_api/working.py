"""`driftfold worker`: run jobs of a service."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from driftfold_api.errors import RequestError
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts.guardian import die_with
from driftfold_workers.observing.logs import Format, Level, configure
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis.server_binary import external_url
from driftfold_workers.worker import run_worker

MIB = 2**20
REDIS = "redis"
"""Folder of the embedded server, in the folder of runs."""


@dataclass(frozen=True)
class WorkerRequest:
    """What was asked for on the command line; the fields are those of `driftfold worker`."""

    runs: str
    slots: int = 1
    lease: float = 15.0
    attempts: int = 5
    plugins: Sequence[str] = ()
    data: Sequence[Path] = ()
    memory: int | None = None
    name: str | None = None
    metrics_port: int | None = None
    log_format: Format = Format.TEXT
    log_level: Level = Level.INFO
    parent: int | None = None


def work(request: WorkerRequest) -> None:
    """Run jobs until SIGTERM or SIGINT, then give back what is not finished."""
    if request.parent is not None:
        die_with(request.parent)
    configure(request.log_format, request.log_level)
    with redis_url(Runs.at(request.runs).folder) as (url, _):
        run_worker(
            url,
            request.runs,
            slots=request.slots,
            lease=request.lease,
            attempts=request.attempts,
            plugins=request.plugins,
            data=request.data,
            memory=None if request.memory is None else request.memory * MIB,
            name=request.name,
            metrics_port=request.metrics_port,
        )


@contextmanager
def redis_url(runs: Path | None) -> Iterator[tuple[str, EmbeddedServer | None]]:
    """Give the address of the job store: what REDIS_URL names, else the folder's own server.

    Raises `RequestError` where there is no folder.
    """
    if url := external_url():
        yield url, None
    elif runs is None:
        raise RequestError(
            "runs at a URL bring no job store with them; name a Redis server with REDIS_URL"
        )
    else:
        with EmbeddedServer.open(runs / REDIS) as server:
            yield server.url, server

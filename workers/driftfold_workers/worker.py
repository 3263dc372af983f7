"""A worker: joins a job store and runs jobs until it is told to stop."""

import asyncio
import logging
import os
import secrets
import signal
import socket
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from driftfold.spec import load_plugins
from driftfold_workers.artefacts.data_paths import data_folders
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts.forking import best_starter
from driftfold_workers.jobs.needs import kinds_here
from driftfold_workers.observing.logs import bind
from driftfold_workers.observing.tracing import tracer_here
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.settings import Settings
from driftfold_workers.supervisor import Supervisor

log = logging.getLogger("driftfold.worker")


def run_worker(
    url: str,
    runs: str | Path,
    *,
    slots: int = 1,
    lease: float = 15.0,
    attempts: int = 5,
    plugins: Sequence[str] = (),
    memory: int | None = None,
    data: Sequence[str | Path] = (),
    name: str | None = None,
    prefix: str = "df",
    metrics_port: int | None = None,
) -> None:
    """Run jobs until SIGTERM or SIGINT, then stop at the end of the round and give them back.

    A second signal ends the runs at once; their jobs are given back all the same.

    Parameters
    ----------
    url
        Address of the Redis server that holds the queue.
    runs
        Folder, or URL of fsspec, that all workers and the API reach.
    slots
        Jobs to run at the same time.
    lease
        Seconds without a sign after which another worker takes over; the same for all workers.
    attempts
        Attempts that a job has before it fails.
    plugins
        Modules or ``.py`` files that define further kinds.
    memory
        Bytes of address space that a run may use, or None.
    data
        Folders in which specifications may name files, beside the one that DRIFTFOLD_DATA names.
    name
        Name of the worker; None makes one of host and process.
    prefix
        Of the service's keys in Redis, where several services share a server.
    metrics_port
        Port at which it tells its metrics and whether it is well; None: nowhere.

    Raises
    ------
    SpecError
        A plug-in cannot be loaded.
    PlaceError
        Nothing can be kept at `runs`.
    StoreError
        `url` is no address of a job store.
    """
    settings = Settings(
        name=name or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}",
        runs=Runs.at(runs),
        slots=slots,
        lease=lease,
        attempts=attempts,
        plugins=tuple(_whole(plugin) for plugin in plugins),
        memory=memory,
        data=data_folders(data),
    )
    load_plugins(settings.plugins)
    asyncio.run(_work(url, prefix, settings, metrics_port))


async def _work(url: str, prefix: str, settings: Settings, metrics_port: int | None) -> None:
    bind(worker=settings.name)
    loop, drain = asyncio.get_running_loop(), asyncio.Event()
    tracer = tracer_here("driftfold-worker")
    async with RedisJobStore.open(url, prefix=prefix) as store, best_starter() as starter:
        supervisor = Supervisor(store, kinds_here(), settings, starter, tracer)

        def stop() -> None:
            if drain.is_set():
                supervisor.kill()
            drain.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)
        place = settings.runs
        log.info("worker %s: slots %d, runs in %s", settings.name, settings.slots, place)
        async with _telling(supervisor, metrics_port):
            await supervisor.run(drain)
        tracer.close()
        log.info("worker %s: stopped", settings.name)


def _telling(supervisor: Supervisor, port: int | None) -> AbstractAsyncContextManager[None]:
    if port is None:
        return nullcontext()
    from driftfold_workers.worker_metrics import telling  # with a web server, which few need

    return telling(supervisor, port)


def _whole(plugin: str) -> str:
    """Return a plug-in's file by its full path: processes may work in other folders."""
    by_path = plugin.endswith(".py") or os.sep in plugin
    return str(Path(plugin).absolute()) if by_path else plugin

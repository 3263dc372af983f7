"""`driftfold serve`: job store, API and workers from one command, ended by one Ctrl-C."""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from uvicorn.loops.auto import auto_loop_factory

from driftfold.errors import DriftfoldError, RunError
from driftfold.spec import load_plugins
from driftfold_api.addresses import forget, living, note
from driftfold_api.app import create_app
from driftfold_api.archive.base import Archive
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.crew import REST, Crew
from driftfold_api.depth import LIMIT
from driftfold_api.descriptors import allow_many
from driftfold_api.errors import RequestError
from driftfold_api.garbage import collect_rarely
from driftfold_api.hosts import hosts_of
from driftfold_api.recording.ownership import check_owner
from driftfold_api.server import listen, server_of, url_of
from driftfold_api.working import redis_url
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts.guardian import die_with
from driftfold_workers.jobs.store import StoreUnreachable
from driftfold_workers.observing.logs import Format, Level, configure
from driftfold_workers.observing.tracing import tracer_here
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.stopping import stopped

log = logging.getLogger("driftfold.api")

STORE_WITHIN = 1.0  # seconds for a job store that somebody else runs: it is there, or is not
DAY = 24 * 3600.0
LOOK = 0.1  # seconds between two looks at the processes of the service


@dataclass(frozen=True)
class ServeRequest:
    """What was asked for on the command line; the fields are those of `driftfold serve`."""

    runs: str
    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: Sequence[str] = ()
    workers: int = 1
    slots: int = 1
    lease: float = 15.0
    attempts: int = 5
    plugins: Sequence[str] = ()
    data: Sequence[Path] = ()
    memory: int | None = None
    archive: str | None = None
    log_format: Format = Format.TEXT
    log_level: Level | None = None
    adopt: bool = False
    keep_days: float | None = None
    queue_limit: int = LIMIT
    as_json: bool = False
    parent: int | None = None


def serve(request: ServeRequest) -> None:
    """Serve until SIGINT or SIGTERM, then stop everything that was started."""
    if request.parent is not None:
        die_with(request.parent)
    # Who looks at the terminal is told what is wrong; that workers begin and end jobs they tell.
    configure(request.log_format, request.log_level or Level.WARNING)
    load_plugins(request.plugins)
    runs = Runs.at(request.runs)
    if runs.folder is None and request.archive is None:
        raise RequestError(
            f"runs at {runs} bring no archive with them; name one with --archive or "
            "DRIFTFOLD_ARCHIVE"
        )
    if runs.folder is not None and (there := living(runs.folder)):
        raise RequestError(
            f"a service of the folder {runs} is at {there} already; use it, stop it, or "
            "give another folder with --runs; `driftfold worker` adds workers to it"
        )
    allow_many()
    listening = listen(request.host, request.port)
    with listening:
        try:
            if runs.folder is not None:
                runs.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"cannot make the folder {runs}: {error.strerror}") from error
        fastest = auto_loop_factory()  # uvloop where it is
        with (
            redis_url(runs.folder) as (redis, server),
            asyncio.Runner(loop_factory=fastest) as runner,
        ):
            runner.run(_serve(request, runs, listening, redis, server))


async def _serve(
    request: ServeRequest,
    runs: Runs,
    listening: socket.socket,
    redis: str,
    server: EmbeddedServer | None,
) -> None:
    url = url_of(listening)
    place = request.archive or archive_in(runs.folder or Path())
    async with RedisJobStore.open(redis) as store, SqlArchive.open(place) as archive:
        lacking = await _lacking(redis, archive, request.adopt)
        hosts = hosts_of(request.host, request.allowed_hosts)
        keep = None if request.keep_days is None else request.keep_days * DAY
        app = create_app(
            store, archive, runs=runs, hosts=hosts, keep=keep, queue_limit=request.queue_limit
        )
        tracer = app.state.service.tracer = tracer_here("driftfold-api")
        api = server_of(app, log_level=request.log_level or Level.WARNING)
        crew = Crew(redis, _worker_arguments(request, runs), request.workers)
        tending: asyncio.Task[Any] | None = None

        def stop() -> None:
            if api.should_exit:
                crew.hurry()
            api.should_exit = True

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        serving = asyncio.create_task(api.serve([listening]))
        try:
            await crew.start()
            while not (api.started or serving.done()):
                await asyncio.sleep(0.01)
            if api.started:
                collect_rarely()
                if runs.folder is not None:
                    _note(runs.folder, url)
                if lacking:
                    typer.echo(f"{lacking}; jobs are accepted, and run when it is there", err=True)
                _tell(request, runs, url, server)
                tending = asyncio.create_task(_tend(crew, server))
            await serving
        finally:
            if runs.folder is not None:
                forget(runs.folder, url)
            api.should_exit = True
            if tending is not None:
                await stopped(tending)
            await asyncio.gather(crew.stop(), serving, return_exceptions=True)
            tracer.close()


def archive_in(runs: Path) -> str:
    """Return the address of the archive that a folder of runs has by itself.

    >>> archive_in(Path("/data/runs"))
    'sqlite:////data/runs/archive.sqlite'
    """
    return f"sqlite:///{runs.absolute() / 'archive.sqlite'}"


async def _lacking(redis: str, archive: Archive, adopt: bool) -> str:
    """Return why the job store cannot be used now; "" when it can.

    Jobs are accepted without it. An address that is none, and a wrong password, are raised: they
    will not mend themselves. Nor does what cannot be adopted now.
    """
    async with RedisJobStore.open(redis, patience=STORE_WITHIN) as store:
        try:
            await check_owner(store.window, archive, take=adopt)
        except StoreUnreachable as error:
            if adopt:
                raise
            return " ".join(str(error).split())
    return ""


def _note(folder: Path, url: str) -> None:
    """Let commands find the service; with a full disk it serves all the same."""
    try:
        note(folder, url)
    except OSError as error:
        typer.echo(
            f"cannot note in {folder} where the service is: {error.strerror}; commands need "
            f"--url {url}",
            err=True,
        )


async def _tend(crew: Crew, server: EmbeddedServer | None) -> None:
    """Replace what dies: a worker, or the job store of our own."""
    while True:
        await asyncio.sleep(LOOK)
        try:
            for code in await crew.replace():
                log.warning("a worker ended with code %d; another one takes its place", code)
            if server is not None and server.owner and not server.alive():
                log.warning("the job store ended; it is started again")
                await asyncio.to_thread(server.restart)
        except (OSError, DriftfoldError) as error:  # no memory, no room: it may come back
            log.error("it cannot be started: %s; trying again", error)
            await asyncio.sleep(REST)


def _worker_arguments(request: ServeRequest, runs: Runs) -> list[str]:
    plugins = [word for name in request.plugins for word in ("--plugin", name)]
    data = [word for folder in request.data for word in ("--data", str(folder.absolute()))]
    memory = [] if request.memory is None else ["--memory", str(request.memory)]
    return [
        *(sys.executable, "-P", "-m", "driftfold_api.command", "worker"),
        *("--runs", str(runs), "--slots", str(request.slots)),
        *("--lease", str(request.lease), "--attempts", str(request.attempts)),
        *("--log-format", request.log_format, "--log-level", request.log_level or Level.INFO),
        *("--parent", str(os.getpid())),
        *(*plugins, *data, *memory),
    ]


def _tell(request: ServeRequest, runs: Runs, url: str, server: EmbeddedServer | None) -> None:
    if request.as_json:
        facts = {"url": url, "pid": os.getpid(), "runs": str(runs)}
        typer.echo(json.dumps(facts))
        sys.stdout.flush()
        return
    store = "REDIS_URL" if server is None else f"own server in {server.folder}"
    typer.echo(f"driftfold serves at {url}")
    typer.echo(f"  runs      {runs}")
    typer.echo(f"  job store {store}")
    typer.echo(f"  workers   {_crew(request.workers, request.slots)}")
    typer.echo("Ctrl-C stops it; running jobs go on when it is started again.")
    sys.stdout.flush()


def _crew(workers: int, slots: int) -> str:
    """Say how many workers there are.

    >>> _crew(1, 2), _crew(3, 1), _crew(0, 1)
    ('1 with 2 slots', '3 with 1 slot each', 'none; start some with `driftfold worker`')
    """
    if workers == 0:
        return "none; start some with `driftfold worker`"
    each = " each" if workers > 1 else ""
    return f"{workers} with {slots} {'slot' if slots == 1 else 'slots'}{each}"

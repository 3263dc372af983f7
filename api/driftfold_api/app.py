"""The API as an application: routes, problems, the job store that it stands on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI

from driftfold import __version__
from driftfold.spec import load_builtins
from driftfold_api import openapi, problem
from driftfold_api.archive.base import Archive
from driftfold_api.depth import LIMIT
from driftfold_api.hosts import LOOPBACK, HostCheck, Hosts
from driftfold_api.observing import Observed
from driftfold_api.page import page_routes
from driftfold_api.routes import (
    catalogue,
    condition,
    events,
    groups,
    health,
    jobs,
    lifecycle,
    metrics,
    records,
    repeats,
    results,
)
from driftfold_api.service import Service
from driftfold_api.strict_query import strict_query
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.stopping import stopped

ROUTES = (
    *(jobs, repeats, groups, records, events, lifecycle, results),
    *(catalogue, condition, health, metrics),
)


def create_app(
    store: RedisJobStore,
    archive: Archive,
    *,
    runs: Runs | None = None,
    hosts: Hosts = LOOPBACK,
    keep: float | None = None,
    queue_limit: int = LIMIT,
) -> FastAPI:
    """Return the API over a job store and an archive, with the page at `/`.

    Both are used in the event loop that serves the app, and stay the caller's to close. While it is
    served it keeps the archive, if no other process does.

    Parameters
    ----------
    store
        Where jobs are queued, and told of while they run.
    archive
        Where they are accepted, and kept.
    runs
        Where jobs leave their artefacts; None serves no artefacts.
    hosts
        By which names the service may be asked.
    keep
        Seconds that jobs are kept when they are over; None: for ever.
    queue_limit
        Jobs that may be queued; no more are accepted then.

    Whoever serves it calls ``app.state.service.close()`` before waiting for open connections, so
    that streams end.
    """
    app = _bare_app()
    app.state.service = Service(store, archive, runs, keep, queue_limit)
    app.include_router(page_routes())
    app.add_middleware(HostCheck, hosts=hosts)
    app.add_middleware(Observed, metrics=app.state.service.requests)  # around the one before
    return app


def describe_only() -> dict[str, Any]:
    """Return the OpenAPI description; it needs no store."""
    return _bare_app().openapi()


def _bare_app() -> FastAPI:
    app = FastAPI(
        title="driftfold",
        version=__version__,
        description="Federated learning on fleets that come and go, simulated: submit experiments, "
        "watch them live. Errors are problems in the form of RFC 9457.",
        lifespan=_lifespan,
        docs_url=None,  # its pages would load their scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False},
    )
    for module in ROUTES:
        # Whoever asks whether the service is well may add what he likes, against caches.
        if module in (health, metrics):
            app.include_router(module.router)
        else:
            strict = [Depends(strict_query)]
            told = openapi.problems(problem.INVALID_REQUEST)
            app.include_router(module.router, dependencies=strict, responses=told)
    problem.install(app)
    openapi.describe(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    load_builtins()  # now, not in the first request
    service: Service = app.state.service
    keeping = asyncio.create_task(service.keeper.run(), name="keeper")
    try:
        yield
    finally:
        service.close()
        await service.roster.aclose()
        await stopped(keeping)

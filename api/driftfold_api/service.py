"""What every route needs: the jobs, the runs, the live logs, the way out."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from driftfold_api.archive.base import Archive
from driftfold_api.archived_store import ArchivedStore
from driftfold_api.depth import LIMIT
from driftfold_api.feeds import Feeds
from driftfold_api.job_id import no_such_job
from driftfold_api.metrics.requests import RequestMetrics
from driftfold_api.recording.keeper import Keeper
from driftfold_api.roster import Roster
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.new_id import is_id
from driftfold_workers.jobs.store import UnknownJob
from driftfold_workers.observing.tracing import UNTRACED, Tracer
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.stopping import stopped

T = TypeVar("T")


class Service:
    """The parts of one running API."""

    def __init__(
        self,
        store: RedisJobStore,
        archive: Archive,
        runs: Runs | None,
        keep: float | None = None,
        queue_limit: int = LIMIT,
    ) -> None:
        self.queue = store
        self.archive = archive
        self.store = ArchivedStore(store, archive, queue_limit=queue_limit)
        self.runs = runs
        self.feeds = Feeds(self.store)
        self.keeper = Keeper(store, archive, keep=keep, runs=runs, doubt=self.store.reach.doubt)
        self.requests = RequestMetrics()
        self.tracer: Tracer = UNTRACED
        self.roster = Roster(self.store)
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End every stream and every wait: the server is about to stop."""
        self._closing.set()
        self.feeds.close()

    async def unless_gone(self, request: Request, work: Coroutine[Any, Any, T]) -> T | None:
        """Return what `work` returns, or None when the client left or the server stops first."""
        task = asyncio.create_task(work)
        others = [
            asyncio.create_task(disconnected(request)),
            asyncio.create_task(self._closing.wait()),
        ]
        try:
            await asyncio.wait([task, *others], return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            await stopped(task, *others)


async def disconnected(request: Request) -> None:
    """Return when the client has gone. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# Both are coroutines only because FastAPI would call functions in another thread.
async def service_of(request: Request) -> Service:
    """Return the service that the app was made for."""
    service: Service = request.app.state.service
    return service


async def job_id(job: str) -> str:
    """Refuse what cannot be the id of a job before the store is asked."""
    if not is_id(job):
        raise UnknownJob(no_such_job(job))
    return job


ServiceHere = Annotated[Service, Depends(service_of)]
JobHere = Annotated[str, Depends(job_id)]

"""Whether the service lives and can serve, and which workers are there."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from fastapi import APIRouter

from driftfold_api import problem as p
from driftfold_api.models import Health, Worker, Workers
from driftfold_api.openapi import explain, problems
from driftfold_api.service import ServiceHere
from driftfold_workers.jobs.store import StoreUnreachable

router = APIRouter(tags=["health"])

T = TypeVar("T")

ANSWER_WITHIN = 2.0  # seconds: a load balancer does not wait as long as a user
PROBE = "readyz"
"""A worker that goes as it comes: whether the store takes it shows whether it takes writes."""


@router.get("/livez", response_model_exclude_none=True, responses=problems())
async def livez() -> Health:
    """Tell that the process answers."""
    return Health(status="ok")


@router.get(
    "/readyz",
    response_model_exclude_none=True,
    responses=problems(p.UNREACHABLE, p.STORE_REFUSES),
)
async def readyz(service: ServiceHere) -> Health:
    """Tell whether jobs are accepted, and whether they can run; count the workers.

    Jobs are accepted as long as the archive takes writes: without it the answer is 503. Without
    the job store it is 200, "degraded": nothing is won by sending requests elsewhere.
    """
    archive, store = await asyncio.gather(
        _in_time(service.archive.ping(), "the archive took no write"),
        _in_time(_workers(service), "the job store gave no answer"),
        return_exceptions=True,
    )
    if isinstance(archive, BaseException):
        raise archive
    if isinstance(store, StoreUnreachable):
        waiting = "jobs are accepted, and run when it is back"
        return Health(status="degraded", detail=f"{' '.join(str(store).split())}; {waiting}")
    if isinstance(store, BaseException):
        raise store
    return Health(status="ready", workers=store)


async def _workers(service: ServiceHere) -> int:
    """Return how many workers there are; the job store takes writes, too."""

    async def probe() -> int:
        await service.queue.announce(PROBE, [], slots=0, ttl=0.0)
        return len(await service.queue.workers())

    return await service.store.reach.ask(probe)


async def _in_time(probe: Awaitable[T], failure: str) -> T:
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            return await probe
    except TimeoutError:
        raise StoreUnreachable(f"{failure} for {ANSWER_WITHIN:g} s") from None


@router.get("/v1/workers", responses=problems(p.UNREACHABLE))
async def workers(service: ServiceHere) -> Workers:
    """Return the workers that are there."""
    found = await service.queue.workers()
    return Workers(workers=[Worker.model_validate(dict(worker)) for worker in found])


@router.get("/problems/{slug}", responses=problems(p.NOT_FOUND))
async def problem_type(slug: str) -> dict[str, str | int]:
    """Explain a type of problem."""
    told = explain(slug)
    if told is None:
        raise p.Problem(p.NOT_FOUND, f"there is no problem {slug[:50]!r}")
    return told

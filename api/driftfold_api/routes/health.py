"""Whether the service lives and can serve, and which workers are there."""

import asyncio

from fastapi import APIRouter

from driftfold_api import problem as p
from driftfold_api.models import Health, Worker, Workers
from driftfold_api.openapi import explain, problems
from driftfold_api.service import ServiceHere

router = APIRouter(tags=["health"])

ANSWER_WITHIN = 2.0  # seconds: a load balancer does not wait as long as a user
PROBE = "readyz"
"""A worker that goes as it comes: whether the store takes it shows whether it takes writes."""


@router.get("/livez", response_model_exclude_none=True, responses=problems())
async def livez() -> Health:
    """Tell that the process answers."""
    return Health(status="ok")


@router.get("/readyz", responses=problems(p.UNREACHABLE, p.STORE_REFUSES))
async def readyz(service: ServiceHere) -> Health:
    """Tell that archive and job store answer, and the latter takes writes; count the workers."""
    store = service.queue
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            await service.archive.ping()
            await store.announce(PROBE, [], slots=0, ttl=0.0)
            return Health(status="ready", workers=len(await store.workers()))
    except TimeoutError:
        raise p.Problem(
            p.UNREACHABLE,
            f"the job store gave no answer for {ANSWER_WITHIN:g} s",
            headers={"Retry-After": p.RETRY_AFTER},
        ) from None


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

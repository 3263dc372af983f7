"""What happened to a job beside its records: its lifecycle and its attempts."""

from typing import Annotated

from annotated_types import Ge, Le
from fastapi import APIRouter, Query

from driftfold_api import problem as p
from driftfold_api.models import Attempts, Lifecycle, LifecyclePage
from driftfold_api.openapi import problems
from driftfold_api.service import JobHere, ServiceHere

router = APIRouter(prefix="/v1/jobs/{job}", tags=["lifecycle"])

PAGE = 1000


@router.get(
    "/lifecycle",
    responses=problems(p.UNKNOWN_JOB, p.INVALID_REQUEST, p.UNREACHABLE),
)
async def lifecycle(
    job: JobHere,
    service: ServiceHere,
    after: Annotated[int, Query(description="Events after this number."), Ge(0), Le(2**53)] = 0,
    limit: Annotated[int, Query(), Ge(1), Le(PAGE)] = PAGE,
) -> LifecyclePage:
    """Return lifecycle events in order: submitted, claimed, checkpoint, lost, resumed, ..."""
    found = await service.store.events(job, after=after, limit=limit)
    events = [Lifecycle.of(event) for event in found]
    return LifecyclePage(events=events, last=events[-1].number if events else after)


@router.get("/attempts", responses=problems(p.UNKNOWN_JOB, p.UNREACHABLE))
async def attempts(job: JobHere, service: ServiceHere) -> Attempts:
    """Return the attempts at a job, the latest last."""
    return Attempts(attempts=list(await service.store.attempts(job)))

"""The queue, the workers and the parts of the service: what an operator looks at."""

from fastapi import APIRouter

from driftfold_api import problem as p
from driftfold_api.condition import Condition, QueueView
from driftfold_api.metrics.scrape import scrape
from driftfold_api.openapi import problems
from driftfold_api.service import ServiceHere

router = APIRouter(prefix="/v1", tags=["health"])


@router.get("/queue", responses=problems(p.UNREACHABLE))
async def queue(service: ServiceHere) -> QueueView:
    """Return what waits, what runs, and how fast jobs end."""
    return QueueView.of(await service.queue.census(), service.store.queue_limit)


@router.get("/condition", responses=problems())
async def condition(service: ServiceHere) -> Condition:
    """Tell which parts of the service answer; the answer is 200 even when none does."""
    return Condition.of(await scrape(service))

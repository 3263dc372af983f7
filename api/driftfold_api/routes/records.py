"""The log of a job: pages of records for scripts, a stream of events for those who watch."""

from typing import Annotated

from annotated_types import Ge, Le
from fastapi import APIRouter, Header, Query, Request, Response

from driftfold_api import problem as p
from driftfold_api.models import RecordPage
from driftfold_api.openapi import problems
from driftfold_api.service import JobHere, ServiceHere
from driftfold_api.sse import JobStream

router = APIRouter(prefix="/v1/jobs/{job}", tags=["records"])

Position = Annotated[int, Ge(0), Le(2**53)]
STREAM = {
    "description": "Events. A record has its number as id. `lifecycle` tells what happened to the "
    "job beside its records, in its place between them, without an id; `end` is the last event.",
    "content": {"text/event-stream": {}},
}


@router.get(
    "/records",
    response_model=RecordPage,
    responses=problems(p.UNKNOWN_JOB, p.INVALID_REQUEST, p.UNREACHABLE),
)
async def records(
    request: Request,
    job: JobHere,
    service: ServiceHere,
    after: Annotated[Position, Query(description="Records after this number.")] = 0,
    limit: Annotated[int, Query(), Ge(1), Le(5000)] = 1000,
    wait: Annotated[
        float, Query(description="Seconds to wait for a record when there is none."), Ge(0), Le(60)
    ] = 0.0,
) -> Response:
    """Return records in order. With `wait` the answer comes as soon as there is one."""
    reading = service.store.read(job, after=after, limit=limit, wait=wait)
    found = await service.unless_gone(request, reading) or ()
    known = await service.store.get(job)
    last = after + len(found)
    complete = known.state.final and last >= known.seq
    # Records are JSON already: they are passed on, not read and written again.
    facts = f'],"last":{last},"state":"{known.state}","complete":{str(complete).lower()}}}'
    text = b'{"records":[' + b",".join(map(bytes.strip, found)) + facts.encode()
    return Response(text, headers={"Cache-Control": "no-store"}, media_type="application/json")


@router.get(
    "/events",
    response_class=Response,
    responses={200: STREAM, **problems(p.UNKNOWN_JOB, p.INVALID_REQUEST, p.UNREACHABLE)},
)
async def events(
    job: JobHere,
    service: ServiceHere,
    after: Annotated[Position, Query(description="Records after this number.")] = 0,
    lifecycle_after: Annotated[
        Position, Query(description="Lifecycle events after this number.")
    ] = 0,
    last_event_id: Annotated[
        Position | None, Header(description="Goes before `after`: browsers send it by themselves.")
    ] = None,
) -> Response:
    """Stream the records of a job, those that are there and those to come, until its end."""
    known = await service.store.get(job)
    start = after if last_event_id is None else last_event_id
    return JobStream(service.feeds, known, start, lifecycle_after)

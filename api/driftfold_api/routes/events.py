"""Events of many jobs, as one stream."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from driftfold_api import problem as p
from driftfold_api.cursor import Cursor, Place
from driftfold_api.multiplex import EveryStream, JobsStream
from driftfold_api.openapi import problems
from driftfold_api.routes.groups import group_id
from driftfold_api.service import Service, ServiceHere, job_id
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import UnknownJob

router = APIRouter(prefix="/v1/events", tags=["records"])

MOST = 100  # jobs that a request may name
PAGE = 1000  # jobs of a group that are looked up in one go
STREAM = {
    "description": "Events, each of one job, which `job` names. `records` has records that follow "
    "one another, `lifecycle` what happened to the job beside them, `waiting` what it waits for, "
    "`gap` which records are lost; `end` is the last of a job. The id of an event is a cursor: the "
    "position in the logs of all jobs.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
KNOWN = {"description": "The end of every job is known to the client: it need not come back."}


@router.get(
    "",
    response_class=Response,
    responses={
        200: STREAM,
        204: KNOWN,
        **problems(p.UNKNOWN_JOB, p.UNKNOWN_GROUP, p.INVALID_REQUEST, p.UNREACHABLE),
    },
)
async def all_events(
    service: ServiceHere,
    jobs: Annotated[
        str | None,
        Query(
            description=f"Ids, with commas between them, at most {MOST}. Without it: the jobs that "
            "have begun and are not over, and all that begin from now on."
        ),
    ] = None,
    group: Annotated[
        str | None, Query(description="Id of a group: its jobs, as soon as they have begun.")
    ] = None,
    cursor: Annotated[
        str | None, Query(description="The id of an event: what followed it is sent.")
    ] = None,
    last_event_id: Annotated[
        str | None, Header(description="Goes before `cursor`: browsers send it by themselves.")
    ] = None,
) -> Response:
    """Stream the records of many jobs, those that are there and those to come."""
    known = _cursor(
        "header.last-event-id" if last_event_id else "query.cursor", last_event_id or cursor
    )
    if jobs is not None:
        if group is not None:
            raise _refusal("query.group", "given with jobs; name jobs or a group, not both")
        wanted = await _ids(jobs)
        places = {
            job: Place() if known is None else known.places.get(job, Place()) for job in wanted
        }
        if all(place.over for place in places.values()):
            return Response(status_code=204)
        # Who comes back is told of a job that is gone meanwhile; who names one at first is refused.
        return JobsStream(service.feeds, await _found(service, places, strict=known is None))
    of = "" if group is None else (await service.archive.groups.get(await group_id(group))).id
    if known is None or known.turn is None:
        turn, active = await service.store.active()
        begun = await _begun(service, of) if of else await _found(service, _anew(active))
        return EveryStream(service.feeds, service.roster, begun, turn, False, of)
    lost = not (await service.store.turns(after=known.turn, limit=1)).complete
    here = await _found(service, known.places)
    return EveryStream(service.feeds, service.roster, here, known.turn, lost, of)


def _cursor(name: str, text: str | None) -> Cursor | None:
    if not text:
        return None
    try:
        return Cursor.read(text)
    except ValueError as error:
        raise _refusal(name, f"{error}; give back the id of an event as it came") from None


async def _ids(text: str) -> list[str]:
    names = list(dict.fromkeys(text.split(",")))
    if len(names) > MOST:
        raise _refusal(
            "query.jobs", f"{len(names)} jobs; name at most {MOST}, or none to follow all"
        )
    return [await job_id(name) for name in names]


async def _found(
    service: Service, places: Mapping[str, Place], strict: bool = False
) -> dict[str, tuple[Job | None, Place]]:
    """Return the jobs that are there; with `strict`, `UnknownJob` for one that is not."""

    async def get(job: str) -> Job | None:
        try:
            return await service.store.get(job)
        except UnknownJob:
            if strict:
                raise
            return None

    found = await asyncio.gather(*map(get, places))
    return {job: (known, places[job]) for job, known in zip(places, found, strict=True)}


async def _begun(service: Service, group: str) -> dict[str, tuple[Job | None, Place]]:
    """Return the jobs of a group that have begun, whether over or not."""
    jobs: list[str] = []
    after = 0
    while children := await service.archive.groups.children(group, after=after, limit=PAGE):
        jobs += [child.job.id for child in children]
        after = children[-1].number
    found = await _found(service, _anew(jobs))
    return {
        job: (known, place)
        for job, (known, place) in found.items()
        if known is not None and (known.attempt or known.state is not State.QUEUED)
    }


def _anew(jobs: Sequence[str]) -> dict[str, Place]:
    return dict.fromkeys(jobs, Place())


def _refusal(name: str, detail: str) -> p.Problem:
    return p.Problem(p.INVALID_REQUEST, f"{name}: {detail}", [{"field": name, "detail": detail}])

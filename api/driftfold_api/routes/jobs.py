"""Jobs: submit, look, list, cancel, pause, resume, delete."""

import logging
from dataclasses import replace
from typing import Annotated

from annotated_types import Ge, Le
from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import StringConstraints
from starlette.datastructures import URL

from driftfold.errors import SpecError
from driftfold_api import problem as p
from driftfold_api.bodies import read_model
from driftfold_api.etag import UNCHANGED, Known, unless_known
from driftfold_api.models import JobDetail, JobPage, JobView, Submission
from driftfold_api.openapi import body, problems
from driftfold_api.service import JobHere, ServiceHere
from driftfold_api.submission import accept
from driftfold_api.wording import in_words
from driftfold_workers.artefacts.clearing import clear_up
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.observing.logs import bound
from driftfold_workers.observing.tracing import parent_in

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

Key = Annotated[
    str,
    StringConstraints(min_length=1, max_length=255, pattern=r"^[\x21-\x7e]+$"),
    in_words("1 to 255 letters, digits and signs of ASCII, without spaces"),
]
Cursor = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
    in_words("the cursor that came with the page before"),
]
log = logging.getLogger("driftfold.api")

POLL_AFTER = "1"  # seconds
LATER = {"description": "It is gone here; the job store forgets it as soon as it answers."}
MOVED = problems(p.UNKNOWN_JOB, p.CONFLICT, p.UNREACHABLE, p.STORE_REFUSES)


@router.post(
    "",
    status_code=202,
    response_model=JobDetail,
    openapi_extra=body(Submission),
    responses=problems(
        p.MALFORMED, p.TOO_LARGE, p.MEDIA, p.INVALID_REQUEST, p.INVALID_SPEC, p.KEY_REUSED,
        p.UNREACHABLE, p.STORE_REFUSES, p.QUEUE_FULL,
    ),
)  # fmt: skip
async def submit(
    request: Request,
    response: Response,
    service: ServiceHere,
    idempotency_key: Annotated[
        Key | None,
        Header(
            description="Repeat a request with the same key, and one job is made; another one "
            "once that has failed."
        ),
    ] = None,
    traceparent: Annotated[
        str | None,
        Header(description="W3C Trace Context: whose child the trace of the job is."),
    ] = None,
) -> JobDetail:
    """Submit an experiment. It is on disk, and queued; `Location` says where to watch it."""
    asked = await read_model(request, Submission)
    with service.tracer.span("submit", parent_in(traceparent)) as span:
        try:
            accepted = accept(asked.spec, asked.name, asked)
        except SpecError as error:
            raise p.invalid_spec(error) from None
        terms = replace(accepted.terms, trace=span.context)
        wanted = replace(accepted, terms=terms)
        job, new = await service.store.submit(wanted, key=idempotency_key)
    with bound(job=job.id):
        log.info("job %s: %s", job.id, "accepted" if new else "accepted before")
    return made(job, response)


@router.get(
    "",
    response_model=JobPage,
    responses={304: UNCHANGED, **problems(p.INVALID_REQUEST, p.UNREACHABLE)},
)
async def list_jobs(
    request: Request,
    service: ServiceHere,
    limit: Annotated[int, Query(), Ge(1), Le(200)] = 50,
    cursor: Annotated[Cursor | None, Query(description="From the page before.")] = None,
    state: Annotated[State | None, Query(description="Only jobs in this state.")] = None,
    dead: Annotated[
        bool, Query(description="Only jobs that failed because their attempts ran out.")
    ] = False,
    if_none_match: Known = None,
) -> Response:
    """List jobs, newest first."""
    page = await service.store.list(limit=limit, cursor=cursor, state=state, dead=dead)
    following = None
    if page.cursor is not None:
        url: URL = request.url.include_query_params(cursor=page.cursor)
        following = f"{url.path}?{url.query}"
    told = JobPage(jobs=[JobView.of(job) for job in page.jobs], cursor=page.cursor, next=following)
    return unless_known(told, if_none_match)


@router.get(
    "/{job}",
    response_model=JobDetail,
    responses={304: UNCHANGED, **problems(p.UNKNOWN_JOB, p.UNREACHABLE)},
)
async def get_job(job: JobHere, service: ServiceHere, if_none_match: Known = None) -> Response:
    """Return a job. Its ETag changes with all that is told of it."""
    return unless_known(JobDetail.of(await service.store.get(job)), if_none_match)


@router.post("/{job}/cancel", status_code=202, response_model=JobDetail, responses=MOVED)
async def cancel(job: JobHere, response: Response, service: ServiceHere) -> JobDetail:
    """Cancel a job: one that waits at once, a running one at the end of its round.

    While the job store is away, a job that was queued there is "canceling" until that is back.
    """
    canceled = await service.store.cancel(job)
    if canceled.state.final and service.runs is not None:  # else its worker does
        await clear_up(service.runs, canceled)
    return _moved(canceled, response)


@router.post("/{job}/pause", status_code=202, response_model=JobDetail, responses=MOVED)
async def pause(job: JobHere, response: Response, service: ServiceHere) -> JobDetail:
    """Pause a job: a queued one at once, a running one at the end of its round.

    While the job store is away, a job that was queued there is "pausing" until that is back.
    """
    return _moved(await service.store.pause(job), response)


@router.post("/{job}/resume", status_code=202, response_model=JobDetail, responses=MOVED)
async def resume(job: JobHere, response: Response, service: ServiceHere) -> JobDetail:
    """Put a paused job in its place in the queue again; it goes on where it was.

    While the job store is away, it stays paused until that is back.
    """
    return _moved(await service.store.resume(job), response)


@router.delete("/{job}", status_code=204, responses={202: LATER, **MOVED})
async def delete(job: JobHere, service: ServiceHere) -> Response:
    """Forget a job that is over, and its log; its artefacts go a little later."""
    return Response(status_code=204 if await service.store.delete(job) else 202)


def made(job: Job, response: Response) -> JobDetail:
    """Tell a job that was made, where it is, and when to look at it."""
    told = JobDetail.of(job)
    response.headers.update({"Location": told.links["self"], "Retry-After": POLL_AFTER})
    return told


def _moved(job: Job, response: Response) -> JobDetail:
    """Tell a job that was asked to change its state, and when to look at it again."""
    told = JobDetail.of(job)
    if not told.state.final and told.state is not State.PAUSED:
        response.headers["Retry-After"] = POLL_AFTER
    return told

"""Doing again what a job did: retry, clone, replay of dead ones."""

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from driftfold.errors import SpecError
from driftfold_api import problem as p
from driftfold_api.bodies import read_model
from driftfold_api.models import JobDetail
from driftfold_api.openapi import body, problems
from driftfold_api.repeat_models import CloneAsked, Replay, ReplayAsked, RetryAsked
from driftfold_api.repeats import clone, replay, retry
from driftfold_api.routes.jobs import Key, made
from driftfold_api.service import JobHere, ServiceHere

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

BAD_BODY = (p.MALFORMED, p.TOO_LARGE, p.MEDIA, p.INVALID_REQUEST)
TROUBLE = (p.UNREACHABLE, p.STORE_REFUSES)
TROUBLE_IN_MAKING = (*TROUBLE, p.QUEUE_FULL)
KeyGiven = Annotated[
    Key | None, Header(description="Repeat a request with the same key, and one job is made.")
]


@router.post(
    "/{job}/retry",
    status_code=202,
    response_model=JobDetail,
    openapi_extra=body(RetryAsked, required=False),
    responses=problems(*BAD_BODY, p.UNKNOWN_JOB, p.CONFLICT, p.KEY_REUSED, *TROUBLE_IN_MAKING),
)
async def retry_job(
    job: JobHere,
    request: Request,
    response: Response,
    service: ServiceHere,
    idempotency_key: KeyGiven = None,
) -> JobDetail:
    """Try again what has failed or was canceled: a new job, by itself from the last snapshot."""
    asked = await read_model(request, RetryAsked, required=False)
    return made(await retry(service.store, job, asked, idempotency_key), response)


@router.post(
    "/{job}/clone",
    status_code=202,
    response_model=JobDetail,
    openapi_extra=body(CloneAsked, required=False),
    responses=problems(*BAD_BODY, p.INVALID_SPEC, p.UNKNOWN_JOB, p.KEY_REUSED, *TROUBLE_IN_MAKING),
)
async def clone_job(
    job: JobHere,
    request: Request,
    response: Response,
    service: ServiceHere,
    idempotency_key: KeyGiven = None,
) -> JobDetail:
    """Run a job once more from the start, whatever its state, perhaps with changes: a new job."""
    asked = await read_model(request, CloneAsked, required=False)
    try:
        return made(await clone(service.store, job, asked, idempotency_key), response)
    except SpecError as error:
        raise p.invalid_spec(error) from None


@router.post(
    "/replay",
    status_code=202,
    openapi_extra=body(ReplayAsked),
    responses=problems(*BAD_BODY, *TROUBLE_IN_MAKING),
)
async def replay_jobs(request: Request, service: ServiceHere) -> Replay:
    """Try dead jobs again, whose attempts ran out: each once, however often this is asked for."""
    return await replay(service.store, await read_model(request, ReplayAsked))

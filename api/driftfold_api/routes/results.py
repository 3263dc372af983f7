"""What a job gave: its result, and the files it left."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from fastapi import APIRouter, Response
from starlette.responses import FileResponse, StreamingResponse

from driftfold.files import Entry, Files, LocalFiles
from driftfold_api import problem as p
from driftfold_api.models import Artefact, Artefacts
from driftfold_api.openapi import problems
from driftfold_api.service import JobHere, Service, ServiceHere
from driftfold_workers.jobs.job import State

router = APIRouter(prefix="/v1/jobs/{job}", tags=["results"])

RESULT = {
    "description": "The result table: digests, final metrics, counts, timing.",
    "content": {"application/json": {"schema": {"type": "object"}}},
}
FILE = {
    "description": "The file.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


@router.get(
    "/result",
    response_class=Response,
    responses={200: RESULT, **problems(p.UNKNOWN_JOB, p.CONFLICT, p.UNREACHABLE)},
)
async def result(job: JobHere, service: ServiceHere) -> Response:
    """Return the result of a job that has succeeded."""
    known = await service.store.get(job)
    if known.state is State.SUCCEEDED and known.result is not None:
        text = json.dumps(known.result, allow_nan=False)
        return Response(text, headers={"Cache-Control": "no-cache"}, media_type="application/json")
    why = f": {known.reason}" if known.reason else ""
    what = "it has no result" if known.state.final else "wait for its end"
    raise p.Problem(p.CONFLICT, f"job {job} is {known.state}, not succeeded{why}; {what}")


@router.get("/artefacts", responses=problems(p.UNKNOWN_JOB, p.UNREACHABLE, p.ARTEFACTS_AWAY))
async def artefacts(job: JobHere, service: ServiceHere) -> Artefacts:
    """List the files that a job left."""
    return Artefacts(artefacts=[_told(job, *found) for found in await _files(service, job)])


@router.get(
    "/artefacts/{name}",
    response_class=FileResponse,
    responses={
        200: FILE,
        **problems(p.UNKNOWN_JOB, p.UNKNOWN_ARTEFACT, p.UNREACHABLE, p.ARTEFACTS_AWAY),
    },
)
async def artefact(job: JobHere, name: str, service: ServiceHere) -> Response:
    """Return one of the files."""
    for known, entry in await _files(service, job):
        if known == name:
            assert service.runs is not None
            return _content(service.runs.of(job), name, entry)
    raise p.Problem(p.UNKNOWN_ARTEFACT, f"job {job} has no artefact {name[:100]!r}")


async def _files(service: Service, job: str) -> Sequence[tuple[str, Entry]]:
    """Return a job's files by the names that users know; a name is never made into a path."""
    known = await service.store.get(job)
    if service.runs is None:
        return []
    looking = asyncio.to_thread(service.runs.artefacts, job, known.checkpoint)
    return await p.reaching_artefacts(looking)


def _content(files: Files, name: str, entry: Entry) -> Response:
    """Return the answer that brings a file, piece by piece."""
    if isinstance(files, LocalFiles):
        return FileResponse(files.folder / entry.name, filename=name)
    headers = {
        "Content-Length": str(entry.size),
        "Content-Disposition": f"attachment; filename*=utf-8''{quote(name)}",
    }
    pieces = files.read(entry.name, end=entry.size)
    return StreamingResponse(pieces, headers=headers, media_type="application/octet-stream")


def _told(job: str, name: str, entry: Entry) -> Artefact:
    when = None if entry.modified is None else datetime.fromtimestamp(entry.modified, UTC)
    return Artefact(
        name=name,
        size=entry.size,
        modified=when,
        href=f"/v1/jobs/{job}/artefacts/{quote(name)}",
    )

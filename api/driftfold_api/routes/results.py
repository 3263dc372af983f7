"""What a job gave: its result, and the files it left."""

import json
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Response
from starlette.responses import FileResponse

from driftfold_api import problem as p
from driftfold_api.models import Artefact, Artefacts
from driftfold_api.openapi import problems
from driftfold_api.service import JobHere, Service, ServiceHere
from driftfold_workers.job import State
from driftfold_workers.runs import OUTPUT

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


@router.get("/artefacts", responses=problems(p.UNKNOWN_JOB, p.UNREACHABLE))
async def artefacts(job: JobHere, service: ServiceHere) -> Artefacts:
    """List the files that a job left."""
    await service.store.get(job)
    return Artefacts(artefacts=[_told(job, file) for file in _files(service, job)])


@router.get(
    "/artefacts/{name}",
    response_class=FileResponse,
    responses={200: FILE, **problems(p.UNKNOWN_JOB, p.UNKNOWN_ARTEFACT, p.UNREACHABLE)},
)
async def artefact(job: JobHere, name: str, service: ServiceHere) -> Response:
    """Return one of the files."""
    await service.store.get(job)
    for file in _files(service, job):
        if file.name == name:
            return FileResponse(file, filename=name)
    raise p.Problem(p.UNKNOWN_ARTEFACT, f"job {job} has no artefact {name[:100]!r}")


def _files(service: Service, job: str) -> list[Path]:
    """Return the regular files of a job's folder; a name is compared, never made into a path.

    What its processes printed is for the operator: it has the paths of this machine in it. Users
    are told the reason of a failure.
    """
    folder = None if service.runs is None else service.runs / job
    if folder is None or not folder.is_dir():
        return []
    files = (file for file in folder.iterdir() if file.is_file() and not file.is_symlink())
    return sorted(file for file in files if not file.name.startswith(".") and file.name != OUTPUT)


def _told(job: str, file: Path) -> Artefact:
    facts = file.stat()
    return Artefact(
        name=file.name,
        size=facts.st_size,
        modified=datetime.fromtimestamp(facts.st_mtime, UTC),
        href=f"/v1/jobs/{job}/artefacts/{quote(file.name)}",
    )

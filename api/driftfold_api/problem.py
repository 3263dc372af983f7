"""Problems: every refusal of the API in one form, that of RFC 9457.

The `type` of a problem is an address on this server, where the problem is explained.
"""

import json
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from driftfold.errors import SpecError
from driftfold_api.archive.base import KeyReused, QueueFull, UnknownPrerequisite
from driftfold_api.archive.group import UnknownGroup
from driftfold_workers.jobs.store import (
    Conflict,
    StoreError,
    StoreRefuses,
    StoreUnreachable,
    UnknownJob,
)

T = TypeVar("T")

MEDIA_TYPE = "application/problem+json"
HOME = "/problems"
PROBLEM, REQUEST = "problem", "request"
"""What the state of a request is told: the type of its problem. What it tells: the request's id."""
REQUEST_HEADER = "X-Request-ID"

_log = logging.getLogger("driftfold.api")


@dataclass(frozen=True)
class ProblemType:
    """A kind of problem: its status, a title that never changes, and what it means."""

    slug: str
    status: int
    title: str
    meaning: str

    @property
    def uri(self) -> str:
        """Where it is explained; it identifies the type."""
        return f"{HOME}/{self.slug}"


MALFORMED = ProblemType(
    "malformed", 400, "Malformed request", "The body is not one strict JSON text in UTF-8."
)
NOT_FOUND = ProblemType("not-found", 404, "Not found", "Nothing has this address.")
UNKNOWN_JOB = ProblemType(
    "unknown-job", 404, "Unknown job", "No job has this id: it was deleted, or never was."
)
UNKNOWN_GROUP = ProblemType(
    "unknown-group", 404, "Unknown group", "No group has this id: it was deleted, or never was."
)
UNKNOWN_ARTEFACT = ProblemType(
    "unknown-artefact", 404, "Unknown artefact", "The job has no artefact of this name (yet)."
)
METHOD = ProblemType(
    "method-not-allowed", 405, "Method not allowed", "The header Allow lists what is."
)
CONFLICT = ProblemType(
    "conflict", 409, "Conflict", "The state of the job does not allow this; the detail says which."
)
TOO_LARGE = ProblemType(
    "too-large", 413, "Body too large", "A specification is far smaller than this body."
)
MEDIA = ProblemType(
    "unsupported-media-type", 415, "Unsupported media type", "Send application/json."
)
MISDIRECTED = ProblemType(
    "misdirected", 421, "Misdirected request",
    "The header Host or Origin has a name that is none of this service's: see `driftfold serve "
    "--allowed-host`.",
)  # fmt: skip
INVALID_REQUEST = ProblemType(
    "invalid-request", 422, "Invalid request",
    "Fields, parameters or headers are not as they must be; `errors` lists them all.",
)  # fmt: skip
INVALID_SPEC = ProblemType(
    "invalid-spec", 422, "Invalid specification",
    "The experiment cannot be run as written; `errors` lists every problem with its field.",
)  # fmt: skip
KEY_REUSED = ProblemType(
    "idempotency-key-reused", 422, "Idempotency key reused",
    "The key has made a job of another specification, name or terms; use a new key for a new job.",
)  # fmt: skip
QUEUE_FULL = ProblemType(
    "queue-full", 503, "Queue full",
    "As many jobs are queued as the service takes. No job was made: repeat the request later.",
)  # fmt: skip
INTERNAL = ProblemType(
    "internal", 500, "Internal error", "A fault of the service; its log has the traceback."
)
UNREACHABLE = ProblemType(
    "store-unreachable", 503, "Store unreachable",
    "The service cannot reach its job store, or its archive; the detail says which. The request "
    "may or may not have been carried out: "
    "repeat it, a submission with the same Idempotency-Key.",
)  # fmt: skip
STORE_REFUSES = ProblemType(
    "store-refuses", 503, "Store takes no writes",
    "The job store, or the archive, answers, but has no room or may not write; the detail has its "
    "own words. "
    "Nothing of the request was carried out: repeat it when that is mended.",
)  # fmt: skip
ARTEFACTS_AWAY = ProblemType(
    "artefacts-unreachable", 503, "Artefacts unreachable",
    "The service cannot read or write where jobs leave their artefacts; the detail says why. "
    "Nothing else of the request was carried out: repeat it.",
)  # fmt: skip

TYPES = {
    kind.slug: kind
    for kind in (
        *(
            MALFORMED,
            NOT_FOUND,
            UNKNOWN_JOB,
            UNKNOWN_GROUP,
            UNKNOWN_ARTEFACT,
            METHOD,
            CONFLICT,
            TOO_LARGE,
            MEDIA,
        ),
        MISDIRECTED,
        *(INVALID_REQUEST, INVALID_SPEC, KEY_REUSED, INTERNAL, UNREACHABLE, STORE_REFUSES),
        *(ARTEFACTS_AWAY, QUEUE_FULL),
    )
}
_BY_STATUS = {kind.status: kind for kind in (NOT_FOUND, METHOD, TOO_LARGE, MEDIA, MALFORMED)}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
RETRY_AFTER = "2"  # seconds
ROOM_AFTER = "10"  # seconds
JSON_NAMES: Mapping[type, str] = {
    dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number",
    bool: "true or false", type(None): "null",
}  # fmt: skip


@dataclass
class Problem(Exception):
    """Raised by a route to refuse a request."""

    type: ProblemType
    detail: str
    errors: Sequence[Mapping[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(problem: Problem, instance: str) -> Response:
    """Return the response that tells a problem."""
    told: dict[str, Any] = {
        "type": problem.type.uri,
        "title": problem.type.title,
        "status": problem.type.status,
        "detail": problem.detail,
        "instance": instance,
    }
    if problem.errors:
        told["errors"] = list(problem.errors)
    headers = {"Cache-Control": "no-store", **problem.headers}
    return Response(json.dumps(told), problem.type.status, headers, MEDIA_TYPE)


def invalid_spec(error: SpecError, where: str = "spec") -> Problem:
    """Return the problem of a specification; each line of the error becomes an entry.

    >>> invalid_spec(SpecError("seed: got -1, wanted 0")).errors
    [{'field': 'spec.seed', 'detail': 'got -1, wanted 0'}]
    """
    return Problem(
        INVALID_SPEC, str(error), [_entry(line, where) for line in str(error).splitlines()]
    )


async def reaching_artefacts(work: Awaitable[T]) -> T:
    """Return what `work` returns; where it cannot reach the artefacts, raise that problem."""
    try:
        return await work
    except OSError as error:
        _log.error("the artefacts: %s", error)
        why = error.strerror or str(error)
        detail = f"cannot reach the artefacts: {why}; repeat the request when that is mended"
        raise Problem(ARTEFACTS_AWAY, detail, headers={"Retry-After": RETRY_AFTER}) from error


def install(app: FastAPI) -> None:
    """Let an app answer every error with a problem."""

    async def own(request: Request, error: Exception) -> Response:
        problem = _as_problem(error)
        setattr(request.state, PROBLEM, problem.type.slug)
        if problem.type is METHOD:
            problem.headers = {"Allow": ", ".join(_allowed(app, request))}
        return answer(problem, request.url.path)

    async def unexpected(request: Request, error: Exception) -> Response:
        setattr(request.state, PROBLEM, INTERNAL.slug)
        detail = "the service failed; its log has the traceback"
        # All other answers get their header further in.
        known = getattr(request.state, REQUEST, None)
        headers = {} if known is None else {REQUEST_HEADER: known}
        return answer(Problem(INTERNAL, detail, headers=headers), request.url.path)

    for kind in (Problem, StoreError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, own)
    app.add_exception_handler(Exception, unexpected)  # the server logs it


def _as_problem(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, StoreRefuses):
        _log.error("%s", " ".join(str(error).split()))
        words = " ".join(error.words.split()).rstrip(".")
        detail = f"{error.what} takes no writes: {words}; repeat the request when that is mended"
        return Problem(STORE_REFUSES, detail, headers={"Retry-After": RETRY_AFTER})
    if isinstance(error, StoreUnreachable):
        return Problem(UNREACHABLE, str(error), headers={"Retry-After": RETRY_AFTER})
    if isinstance(error, UnknownGroup):
        return Problem(UNKNOWN_GROUP, str(error))
    if isinstance(error, KeyReused):
        return Problem(KEY_REUSED, str(error))
    if isinstance(error, QueueFull):
        return Problem(QUEUE_FULL, str(error), headers={"Retry-After": ROOM_AFTER})
    if isinstance(error, UnknownPrerequisite):
        entry = {"field": "body.after", "detail": str(error)}
        return Problem(INVALID_REQUEST, f"body.after: {error}", [entry])
    if isinstance(error, UnknownJob | Conflict):
        return Problem(UNKNOWN_JOB if isinstance(error, UnknownJob) else CONFLICT, str(error))
    if isinstance(error, RequestValidationError):
        entries = [
            {"field": ".".join(map(str, found["loc"])), "detail": _detail(found)}
            for found in error.errors()
        ]
        lines = "\n".join(f"{entry['field']}: {entry['detail']}" for entry in entries)
        return Problem(INVALID_REQUEST, lines, entries)
    if isinstance(error, HTTPException):
        kind = _BY_STATUS.get(error.status_code)
        if kind is None:
            kind = ProblemType("other", error.status_code, str(error.detail), "")
        detail = str(error.detail)
        if kind is NOT_FOUND:
            detail = "nothing has this address; /openapi.json lists those there are"
        return Problem(kind, detail, headers=error.headers or {})
    _log.error("a store failed", exc_info=error)
    return Problem(INTERNAL, "a store of the service failed; its log says how")


def _detail(found: Mapping[str, Any]) -> str:
    """Say what is wrong, without a word from inside."""
    match found["type"]:
        case "model_type" | "dict_type":
            got = JSON_NAMES.get(type(found["input"]), "something else")
            return f"got {got}, wanted a JSON object"
        case "extra_forbidden":
            return "unknown field; leave it out"
    return str(found["msg"])


def _allowed(app: FastAPI, request: Request) -> list[str]:
    """Return the methods that an address has, over all routes: each route knows its own only."""
    scopes = ({**request.scope, "method": method} for method in METHODS)
    return [
        scope["method"]
        for scope in scopes
        if any(route.matches(scope)[0] is Match.FULL for route in app.routes)
    ]


def _entry(line: str, where: str) -> dict[str, str]:
    head, colon, rest = line.partition(": ")
    if colon and head.replace(".", "").replace("[", "").replace("]", "").isidentifier():
        return {"field": f"{where}.{head}", "detail": rest}
    return {"field": where, "detail": line}

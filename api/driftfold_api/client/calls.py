"""Requests and how their answers are read: what both clients share, without any network."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from driftfold.errors import RecordError
from driftfold.spec import JobSpec, load_spec, to_mapping
from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import from_json
from driftfold_api.client.patience import CONNECT_WITHIN
from driftfold_api.errors import Refused, ServiceError
from driftfold_api.job_id import no_such_job
from driftfold_api.models import (
    Artefact,
    Artefacts,
    Attempt,
    Attempts,
    JobDetail,
    JobPage,
    Lifecycle,
    LifecyclePage,
    Preset,
    Presets,
    Worker,
    Workers,
)
from driftfold_api.repeat_models import Replay
from driftfold_api.terms import TermsGiven, to_body
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.new_id import is_id

T = TypeVar("T")
Start: TypeAlias = Literal["checkpoint", "start"]
"""Where a new try begins: at the last snapshot, or anew."""
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request.

    Attributes
    ----------
    method, path, params, headers, body
        What is sent; a body goes as JSON.
    read
        Makes the value of a successful answer.
    repeatable
        Whether it may be sent again when nobody knows if it was carried out.
    patience
        Seconds that the answer may take beyond the usual.
    """

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    repeatable: bool = True
    patience: float = 0.0

    def build(self, client: "httpx.Client | httpx.AsyncClient", timeout: float) -> httpx.Request:
        """Return the request as httpx sends it."""
        given = {name: value for name, value in self.params.items() if value is not None}
        return client.build_request(
            self.method,
            self.path,
            params=given,
            headers=dict(self.headers),
            json=self.body,
            timeout=httpx.Timeout(
                timeout, read=timeout + self.patience, connect=min(timeout, CONNECT_WITHIN)
            ),
        )

    def result(self, response: httpx.Response) -> T:
        """Return the value of an answer, or raise the `Refused` that it tells."""
        if response.is_success:
            try:
                return self.read(response)
            except (ValueError, KeyError, TypeError, ValidationError, RecordError) as error:
                raise ServiceError(
                    f"the answer of {response.url} is not one of a driftfold service "
                    f"({type(error).__name__}); is the address right, are the versions equal?"
                ) from error
        raise refusal(response)


@dataclass(frozen=True)
class Log:
    """Part of a job's log: its records, where to go on, and whether this was the end of it."""

    records: tuple[Record, ...]
    last: int
    state: State
    complete: bool


def submit(
    spec: JobSpec | Mapping[str, Any] | str | Path,
    name: str | None,
    key: str | None,
    terms: TermsGiven,
) -> Call[JobDetail]:
    """Submit an experiment. A file or preset is read here; a table may extend a preset there."""
    body = {"spec": table_of(spec), **({} if name is None else {"name": name}), **to_body(terms)}
    return _making("/v1/jobs", body, key)


def get(job: str) -> Call[JobDetail]:
    """Look at a job."""
    return Call("GET", _job(job), model_of(JobDetail))


def page(limit: int, cursor: str | None, state: State | None, dead: bool) -> Call[JobPage]:
    """List jobs, newest first."""
    params = {"limit": limit, "cursor": cursor, "state": state, "dead": dead or None}
    return Call("GET", "/v1/jobs", model_of(JobPage), params)


def move(job: str, how: Literal["cancel", "pause", "resume"]) -> Call[JobDetail]:
    """Cancel, pause or resume a job."""
    return Call("POST", f"{_job(job)}/{how}", model_of(JobDetail), repeatable=False)


def retry(job: str, start: Start, key: str | None) -> Call[JobDetail]:
    """Try again what has failed or was canceled."""
    return _making(f"{_job(job)}/retry", {"from": start}, key)


def clone(
    job: str, spec: Mapping[str, Any], name: str | None, key: str | None, terms: TermsGiven
) -> Call[JobDetail]:
    """Run a job once more, perhaps with changes."""
    body = {"spec": dict(spec), **({} if name is None else {"name": name}), **to_body(terms)}
    return _making(f"{_job(job)}/clone", body, key)


def replay(jobs: Sequence[str] | None, before: datetime | None, start: Start) -> Call[Replay]:
    """Try dead jobs again."""
    which: dict[str, Any] = {"jobs": None if jobs is None else list(jobs)}
    if before is not None:
        which["before"] = before.astimezone().isoformat()
    body = {name: value for name, value in which.items() if value is not None}
    return Call("POST", "/v1/jobs/replay", model_of(Replay), body={"from": start, **body})


def delete(job: str) -> Call[None]:
    """Forget a job that is over."""
    return Call("DELETE", _job(job), lambda response: None, repeatable=False)


def records(job: str, after: int, limit: int, wait: float) -> Call[Log]:
    """Read part of a job's log."""
    params = {"after": after, "limit": limit, "wait": wait}
    return Call("GET", f"{_job(job)}/records", _log, params, patience=wait)


def lifecycle(job: str, after: int) -> Call[list[Lifecycle]]:
    """Read what happened to a job beside its records."""
    read = model_of(LifecyclePage)
    params = {"after": after}
    return Call("GET", f"{_job(job)}/lifecycle", lambda answer: read(answer).events, params)


def attempts(job: str) -> Call[list[Attempt]]:
    """List the attempts at a job."""
    read = model_of(Attempts)
    return Call("GET", f"{_job(job)}/attempts", lambda answer: read(answer).attempts)


def result(job: str) -> Call[dict[str, Any]]:
    """Read the result of a job."""
    return Call("GET", f"{_job(job)}/result", _table)


def artefacts(job: str) -> Call[list[Artefact]]:
    """List the files that a job left."""
    read = model_of(Artefacts)
    return Call("GET", f"{_job(job)}/artefacts", lambda answer: read(answer).artefacts)


def artefact(job: str, name: str) -> Call[bytes]:
    """Read a file that a job left."""
    path = f"{_job(job)}/artefacts/{quote(name, safe='')}"
    return Call("GET", path, lambda response: response.content)


def catalogue() -> Call[dict[str, Any]]:
    """List the kinds that a specification can name."""
    return Call("GET", "/v1/kinds", _table)


def presets() -> Call[list[Preset]]:
    """List the presets."""
    read = model_of(Presets)
    return Call("GET", "/v1/presets", lambda answer: read(answer).presets)


def workers() -> Call[list[Worker]]:
    """List the workers that are there."""
    read = model_of(Workers)
    return Call("GET", "/v1/workers", lambda answer: read(answer).workers)


def refusal(response: httpx.Response) -> Exception:
    """Return the error of an answer that is not a success."""
    try:
        told = json.loads(response.content)
        detail = str(told.get("detail") or told["title"])
        facts = (response.status_code, str(told.get("type", "")), told.get("errors", ()))
    except (ValueError, KeyError, TypeError, AttributeError):
        detail = f"{response.url} answers {response.status_code} {response.reason_phrase}"
        facts = (response.status_code, "", ())
    if response.status_code >= 500:
        return ServiceError(detail)
    return Refused(detail, *facts)


def _making(path: str, body: Any, key: str | None) -> Call[JobDetail]:
    """Make a job: one, however often this is sent."""
    headers = {"Idempotency-Key": key or str(uuid.uuid4())}
    return Call("POST", path, model_of(JobDetail), headers=headers, body=body)


def _job(job: str) -> str:
    if not is_id(job):  # "../x" or "" would be another address
        raise Refused(no_such_job(job), 404, "/problems/unknown-job")
    return f"/v1/jobs/{job}"


def table_of(spec: JobSpec | Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """Return a specification as a table; a file or preset is read here."""
    if isinstance(spec, str | Path):
        spec = load_spec(spec)
    return to_mapping(spec) if isinstance(spec, JobSpec) else dict(spec)


def model_of(kind: type[M]) -> Callable[[httpx.Response], M]:
    """Return what reads an answer as a model."""
    return lambda response: kind.model_validate_json(response.content)


def _table(response: httpx.Response) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(response.content)
    return table


def _log(response: httpx.Response) -> Log:
    table = json.loads(response.content)
    found = tuple(from_json(record) for record in table["records"])
    return Log(found, table["last"], State(table["state"]), table["complete"])

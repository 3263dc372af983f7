"""Requests in the log: each with its id, which its client may give and is told."""

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from driftfold_workers.jobs.job import Job
from driftfold_workers.observing.logs import JsonLines
from tests.api.serving import NOBODY, Api, submitted

pytestmark = pytest.mark.asyncio


class Kept(logging.Handler):
    """Lines of JSON, made when their entries come: what is bound is known only then."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]


@pytest.fixture
def kept(caplog: pytest.LogCaptureFixture) -> Iterator[Kept]:
    caplog.set_level(logging.INFO, "driftfold")
    caplog.set_level(logging.ERROR, "uvicorn.error")
    handler, names = Kept(), ("driftfold", "uvicorn.error")
    for name in names:
        logging.getLogger(name).addHandler(handler)
    yield handler
    for name in names:
        logging.getLogger(name).removeHandler(handler)


async def test_a_request_has_the_id_that_its_client_gives(
    http: httpx.AsyncClient, kept: Kept
) -> None:
    answer = await http.get("/v1/jobs?limit=3&cursor=", headers={"x-request-id": "ask-1"})
    assert answer.status_code == 422
    assert answer.headers["x-request-id"] == "ask-1"
    (line,) = kept.told()
    assert {name: line[name] for name in ("request", "logger", "method", "path", "route")} == {
        "request": "ask-1",
        "logger": "driftfold.access",
        "method": "GET",
        "path": "/v1/jobs",  # and nothing of what follows it
        "route": "/v1/jobs",
    }
    assert (line["status"], line["client"]) == (422, "127.0.0.1")
    assert line["seconds"] > 0


@pytest.mark.parametrize("given", ["", "two words", "a\tb", "ü", "x" * 129, '"}'])
async def test_what_is_no_id_is_replaced(http: httpx.AsyncClient, given: str) -> None:
    answers = [
        await http.get("/livez", headers={b"x-request-id": given.encode("latin-1")})
        for _ in range(2)
    ]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in ids)
    assert ids[0] != ids[1]


async def test_a_submission_is_in_the_log_with_its_job_and_its_request(
    http: httpx.AsyncClient, kept: Kept
) -> None:
    job = await submitted(http)
    accepted, access = kept.told()
    assert accepted["message"] == f"job {job}: accepted"
    assert accepted["job"] == job
    assert accepted["request"] == access["request"]


async def test_a_fault_and_a_stream_tell_their_ids_too(
    api: Api, http: httpx.AsyncClient, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await submitted(http)
    await http.post(f"/v1/jobs/{job}/cancel")
    stream = await http.get(f"/v1/jobs/{job}/events", headers={"x-request-id": "stream-1"})
    assert stream.headers["x-request-id"] == "stream-1"
    assert stream.headers["content-type"].startswith("text/event-stream")

    async def broken(job: str) -> Job:
        raise KeyError("inside")

    monkeypatch.setattr(api.store, "get", broken)
    kept.lines.clear()
    answer = await http.get(f"/v1/jobs/{NOBODY}", headers={"x-request-id": "fault-1"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "fault-1")
    access, traceback = kept.told()
    assert (access["status"], access["request"]) == (500, "fault-1")
    assert (traceback["logger"], traceback["request"]) == ("uvicorn.error", "fault-1")
    assert "KeyError: 'inside'" in traceback["trace"]
    told = (await http.get("/metrics")).text
    assert 'driftfold_http_problems_total{problem="internal"} 1.0' in told


async def test_an_address_cannot_write_lines_of_its_own(
    http: httpx.AsyncClient, kept: Kept
) -> None:
    await http.get("/nothing%0A%1b[31m" + "x" * 1000)
    (line,) = kept.told()
    assert line["path"].startswith("/nothing%0A%1b")
    assert len(line["path"]) == 200
    assert line["message"].isprintable()

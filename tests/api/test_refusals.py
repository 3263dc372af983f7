"""Refusals: what is wrong with a request is told as a problem, and nothing comes of it."""

import json
from typing import Any

import httpx
import pytest

from driftfold_api.problem import TYPES
from tests.api.serving import NOBODY, SPEC, problem

pytestmark = pytest.mark.asyncio(loop_scope="module")


SPECS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown field": ({"sed": 1}, ["spec"]),
    "unknown kind": ({"task": {"kind": "pcb"}}, ["spec.task"]),
    "several": (
        {"seed": -1, "evaluate_every": 0, "horizon": {"rounds": "9"}},
        ["spec.horizon.rounds", "spec.seed", "spec.evaluate_every"],
    ),
    "true is no number": ({"seed": True}, ["spec.seed"]),
    "no end": ({"horizon": {"rounds": None}}, ["spec.horizon"]),
    "too many clients": ({"task": {"data": {"clients": 10**12}}}, ["spec.task.data.clients"]),
    "overflow": ({"algorithm": {"step_size": 1e999}}, ["spec.algorithm.step_size"]),
    "a file": ({"extends": "spec.toml"}, ["spec.extends"]),
    "a path": ({"extends": "../../etc/passwd"}, ["spec.extends"]),
    "a path that looks like a preset": ({"extends": "./pca-synthetic"}, ["spec.extends"]),
    "no preset": ({"extends": "pca-syntetic"}, ["spec.extends"]),
    "extends a table": ({"extends": {"kind": "pca"}}, ["spec.extends"]),
    "code": ({"plugins": ["os"]}, ["spec.plugins"]),
    "two lines in a name": ({"name": "a\nb"}, ["spec.name"]),
}


@pytest.mark.parametrize("case", SPECS)
async def test_a_bad_specification_is_told_line_by_line(
    shared: httpx.AsyncClient, case: str
) -> None:
    changes, fields = SPECS[case]
    body = json.dumps({"spec": {"extends": "pca-synthetic", **changes}}).replace(
        "Infinity", "1e999"
    )
    answer = await shared.post(
        "/v1/jobs", content=body, headers={"Content-Type": "application/json"}
    )
    told = problem(answer, 422, "invalid-spec")
    assert sorted(error["field"] for error in told["errors"]) == sorted(fields)
    assert len(told["detail"].splitlines()) == len(fields)


BODIES: dict[str, tuple[Any, str]] = {
    "a list": ([1], "body"),
    "no spec": ({}, "body.spec"),
    "spec is text": ({"spec": "pca-synthetic"}, "body.spec"),
    "spec is null": ({"spec": None}, "body.spec"),
    "another field": ({"spec": SPEC, "urgency": 1}, "body.urgency"),
    "name is a number": ({"spec": SPEC, "name": 1}, "body.name"),
    "name is long": ({"spec": SPEC, "name": "x" * 201}, "body.name"),
    "name moves the cursor": ({"spec": SPEC, "name": "\x1b[2J"}, "body.name"),
    "priority is high": ({"spec": SPEC, "priority": 101}, "body.priority"),
    "priority is no whole number": ({"spec": SPEC, "priority": 1.5}, "body.priority"),
    "priority is true": ({"spec": SPEC, "priority": True}, "body.priority"),
    "time without zone": ({"spec": SPEC, "not_before": "2030-01-01T08:00"}, "body.not_before"),
    "time is a number": ({"spec": SPEC, "not_before": 1.8e9}, "body.not_before"),
    "time is a number in text": ({"spec": SPEC, "not_before": "1800000000"}, "body.not_before"),
    "time is a day": ({"spec": SPEC, "not_before": "2030-01-01"}, "body.not_before"),
    "delay is negative": ({"spec": SPEC, "delay_seconds": -1}, "body.delay_seconds"),
    "delay is endless": ({"spec": SPEC, "delay_seconds": 1e12}, "body.delay_seconds"),
    "two times": ({"spec": SPEC, "delay_seconds": 1, "not_before": "2030-01-01T08:00Z"}, "body"),
    "no attempt": ({"spec": SPEC, "attempts": 0}, "body.attempts"),
    "limits is a number": ({"spec": SPEC, "limits": 5}, "body.limits"),
    "no CPU": ({"spec": SPEC, "limits": {"cpu_seconds": 0}}, "body.limits.cpu_seconds"),
    "another limit": ({"spec": SPEC, "limits": {"disk_mib": 5}}, "body.limits.disk_mib"),
    "half a MiB": ({"spec": SPEC, "limits": {"memory_mib": 0.5}}, "body.limits.memory_mib"),
    "after is no list": ({"spec": SPEC, "after": NOBODY}, "body.after"),
    "after is no id": ({"spec": SPEC, "after": ["the first"]}, "body.after.0"),
    "after very many": ({"spec": SPEC, "after": [NOBODY] * 101}, "body.after"),
}


@pytest.mark.parametrize("case", BODIES)
async def test_a_bad_request_names_the_field(shared: httpx.AsyncClient, case: str) -> None:
    body, field = BODIES[case]
    told = problem(await shared.post("/v1/jobs", json=body), 422, "invalid-request")
    assert [error["field"] for error in told["errors"]] == [field]
    for inside in ("Submission", "pattern", "^", "dictionary", "TermsAsked"):
        assert inside not in told["detail"]


TEXTS = {
    "nothing": b"",
    "half": b'{"spec": ',
    "NaN": b'{"spec": {"seed": NaN}}',
    "a key twice": b'{"spec": {}, "spec": {}}',
    "not UTF-8": b'{"spec": {"name": "\xff"}}',
    "half a character": b'{"spec": {"name": "\\ud800"}}',
    "two values": b"{} {}",
    "deep": b"[" * 100_000,
    "a number without end": b'{"spec": {"seed": ' + b"9" * 10_000 + b"}}",
}


@pytest.mark.parametrize("case", TEXTS)
async def test_what_is_no_strict_json_is_malformed(shared: httpx.AsyncClient, case: str) -> None:
    headers = {"Content-Type": "application/json"}
    problem(await shared.post("/v1/jobs", content=TEXTS[case], headers=headers), 400, "malformed")


@pytest.mark.parametrize(
    "kind",
    [None, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"],
)
async def test_other_media_are_refused(shared: httpx.AsyncClient, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = await shared.post("/v1/jobs", content=b"{}", headers=headers)
    problem(answer, 415, "unsupported-media-type")


async def test_a_body_without_end_is_refused(shared: httpx.AsyncClient) -> None:
    async def endless() -> Any:
        while True:
            yield b" " * 2**20

    headers = {"Content-Type": "application/json"}
    try:
        answer = await shared.post("/v1/jobs", content=endless(), headers=headers)
    except httpx.TransportError:  # the server hangs up while we still send
        return
    problem(answer, 413, "too-large")


@pytest.mark.parametrize("key", ["", "two words", "x" * 256, "Schlüssel"])
async def test_a_key_is_short_visible_text(shared: httpx.AsyncClient, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode("latin-1")}
    answer = await shared.post("/v1/jobs", json={"spec": SPEC}, headers=headers)
    told = problem(answer, 422, "invalid-request")
    (error,) = told["errors"]
    assert error["field"].lower() == "header.idempotency-key"
    assert "wanted 1 to 255 letters, digits and signs of ASCII, without spaces" in error["detail"]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"limit": "0"}, "query.limit"),
        ({"limit": "1000"}, "query.limit"),
        ({"limit": "two"}, "query.limit"),
        ({"state": "lost"}, "query.state"),
        ({"cursor": "x"}, "query.cursor"),
        ({"cursor": "-1"}, "query.cursor"),
        ({"limits": "1"}, "query.limits"),
        ({"limit": ["1", "1"]}, "query.limit"),
        ({"after": ""}, "query.after"),
    ],
)
async def test_a_bad_parameter_is_named(
    shared: httpx.AsyncClient, parameters: dict[str, Any], field: str
) -> None:
    told = problem(await shared.get("/v1/jobs", params=parameters), 422, "invalid-request")
    (error,) = told["errors"]
    assert error["field"] == field
    assert "^" not in error["detail"]


async def test_an_unknown_parameter_is_told_which_there_are(shared: httpx.AsyncClient) -> None:
    for path, detail in (
        ("/v1/jobs?stat=failed", "did you mean 'state'? known: cursor, dead, limit, state"),
        (f"/v1/jobs/{NOBODY}/records?after=1&from=2", "known: after, limit, wait"),
        ("/v1/presets?name=x", "this address has none"),
    ):
        told = problem(await shared.get(path), 422, "invalid-request")
        assert told["detail"].endswith(detail)
    assert (await shared.get("/livez?now=1")).status_code == 200


PARTS = ("", "/records", "/events", "/lifecycle", "/attempts", "/result", "/artefacts")


@pytest.mark.parametrize("part", [*PARTS, "/artefacts/model.npz"])
@pytest.mark.parametrize("job", [NOBODY, "1", "..%2f..", NOBODY.upper(), f"{NOBODY}{{x}}", "%00"])
async def test_what_is_no_job_is_unknown_everywhere(
    shared: httpx.AsyncClient, part: str, job: str
) -> None:
    answer = await shared.get(f"/v1/jobs/{job}{part}")
    slug = "not-found" if "%2f" in job else "unknown-job"
    problem(answer, 404, slug)


METHODS = {
    "/v1/jobs": ("PUT", "GET, POST"),
    f"/v1/jobs/{NOBODY}": ("PATCH", "GET, DELETE"),
    f"/v1/jobs/{NOBODY}/cancel": ("GET", "POST"),
    f"/v1/jobs/{NOBODY}/retry": ("GET", "POST"),
    "/v1/groups": ("PUT", "GET, POST"),
    f"/v1/groups/{NOBODY}": ("PATCH", "GET, DELETE"),
    "/livez": ("DELETE", "GET"),
}


@pytest.mark.parametrize("path", METHODS)
async def test_another_method_is_told_which_there_are(shared: httpx.AsyncClient, path: str) -> None:
    method, allowed = METHODS[path]
    answer = await shared.request(method, path)
    problem(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/v2/jobs", "/v1", "/v1/jobs/", "/v1/job", "/.env", "/%ff"])
async def test_other_addresses_are_not_there(shared: httpx.AsyncClient, path: str) -> None:
    problem(await shared.get(path), 404, "not-found")


@pytest.mark.parametrize("slug", TYPES)
async def test_every_problem_is_explained_at_its_address(
    shared: httpx.AsyncClient, slug: str
) -> None:
    answer = await shared.get(TYPES[slug].uri)
    assert answer.status_code == 200
    assert answer.json()["status"] == TYPES[slug].status
    assert answer.json()["meaning"]


async def test_a_problem_that_is_none_is_not_explained(shared: httpx.AsyncClient) -> None:
    problem(await shared.get("/problems/nothing"), 404, "not-found")


async def test_of_all_that_was_refused_nothing_is_left(shared: httpx.AsyncClient) -> None:
    assert (await shared.get("/v1/jobs")).json()["jobs"] == []

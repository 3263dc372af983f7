"""Results and artefacts, and that no file but a job's own can be had."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from driftfold_workers.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, api_on, claimed, finish, problem, submitted

pytestmark = pytest.mark.asyncio


async def test_a_result_is_there_once_the_job_has_succeeded(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    assert "queued" in problem(await http.get(f"/v1/jobs/{job}/result"), 409, "conflict")["detail"]
    epoch = await claimed(store, job)
    result = {"metrics": {"loss": 1.0, "gap": "NaN"}, "event_digest": "ab"}
    await finish(store, job, epoch, result=result)
    answer = await http.get(f"/v1/jobs/{job}/result")
    assert (answer.status_code, answer.json()) == (200, result)
    assert list(answer.json()["metrics"]) == ["loss", "gap"]  # as the task gives them


async def test_a_failed_job_tells_why_there_is_no_result(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    await store.finish(job, epoch, State.FAILED, reason="the data are not there")
    told = problem(await http.get(f"/v1/jobs/{job}/result"), 409, "conflict")
    assert "the data are not there" in told["detail"]


async def test_artefacts_are_the_files_of_the_jobs_folder(
    http: httpx.AsyncClient, tmp_path: Path
) -> None:
    job = await submitted(http)
    url = f"/v1/jobs/{job}/artefacts"
    assert (await http.get(url)).json() == {"artefacts": []}
    folder = tmp_path / job
    (folder / "inner").mkdir(parents=True)
    (folder / "model.npz").write_bytes(bytes(range(256)) * 10)
    (folder / "result one.json").write_text("{}")
    (folder / ".result.json.x.part").write_text("half")
    (folder / "output.txt").write_text("Traceback")  # for the operator
    (folder / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("secret")
    listed = (await http.get(url)).json()["artefacts"]
    assert [(file["name"], file["size"]) for file in listed] == [
        ("model.npz", 2560), ("result one.json", 2),
    ]  # fmt: skip
    model = await http.get(listed[0]["href"])
    assert model.content == bytes(range(256)) * 10
    part = await http.get(listed[0]["href"], headers={"Range": "bytes=1-3"})
    assert (part.status_code, part.content) == (206, b"\x01\x02\x03")
    assert (await http.get(listed[1]["href"])).text == "{}"


ESCAPES = (
    "..%2fsecret", "%2e%2e%2fsecret", "../secret", "..", ".", "%2e%2e", "link", "inner",
    ".result.json.x.part", "model.npz%00", "%2fetc%2fpasswd", "..%5csecret", "nothing",
    "output.txt",
)  # fmt: skip


async def bare(api: Api, path: str) -> bytes:
    """Ask for a path as it is: clients tidy it up before they send it."""
    host, port = api.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer


async def test_nothing_else_can_be_had(api: Api, http: httpx.AsyncClient, tmp_path: Path) -> None:
    job = await submitted(http)
    folder = tmp_path / job
    (folder / "inner").mkdir(parents=True)
    (folder / "model.npz").write_bytes(b"model")
    (folder / ".result.json.x.part").write_text("half")
    (folder / "output.txt").write_text("Traceback")  # for the operator
    (folder / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("secret")
    for name in ESCAPES:
        answer = await bare(api, f"/v1/jobs/{job}/artefacts/{name}")
        assert answer.startswith(b"HTTP/1.1 404 "), name
        assert b"application/problem+json" in answer, name
    assert (await bare(api, f"/v1/jobs/{job}/artefacts/model.npz")).endswith(b"model")
    (listed,) = (await http.get(f"/v1/jobs/{job}/artefacts")).json()["artefacts"]
    assert listed["name"] == "model.npz"


async def test_without_a_folder_of_runs_there_are_no_artefacts(store: RedisJobStore) -> None:
    async with api_on(store) as api, api.client() as http:
        job = await submitted(http)
        assert (await http.get(f"/v1/jobs/{job}/artefacts")).json() == {"artefacts": []}
        answer = await http.get(f"/v1/jobs/{job}/artefacts/spec.json")
        problem(answer, 404, "unknown-artefact")


async def test_numbers_of_a_result_are_strict_json(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    await finish(store, job, epoch, result={"loss": 0.1, "names": ["é"]})

    def refuse(name: str) -> None:
        raise AssertionError(name)

    answer = await http.get(f"/v1/jobs/{job}/result")
    assert json.loads(answer.content, parse_constant=refuse) == {"loss": 0.1, "names": ["é"]}

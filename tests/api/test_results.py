"""Results and artefacts, and that no file but a job's own can be had."""

import asyncio
import errno
import json
from pathlib import Path

import httpx
import pytest

from driftfold.checkpoint.base import Snapshot
from driftfold.checkpoint.disk import DiskStore
from driftfold_api.recording.reconciler import Reconciler
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, api_on, claimed, finish, lines, problem, submitted

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
        answer = await http.get(f"/v1/jobs/{job}/artefacts/config.json")
        problem(answer, 404, "unknown-artefact")


async def test_the_last_snapshot_is_an_artefact(
    http: httpx.AsyncClient, store: RedisJobStore, tmp_path: Path
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    name = DiskStore(tmp_path / job / "checkpoints").save(f"{job}.1", Snapshot({"round": 3}, {}))
    await store.append(job, epoch, 1, lines(1, 3), checkpoint=f"{job}.1:{name}")
    (listed,) = (await http.get(f"/v1/jobs/{job}/artefacts")).json()["artefacts"]
    assert listed["name"] == "checkpoint.npz"
    content = (await http.get(listed["href"])).content
    assert content == (tmp_path / job / "checkpoints" / f"{job}.1" / f"{name}.npz").read_bytes()


async def test_a_deleted_job_takes_its_files_with_it(
    http: httpx.AsyncClient, store: RedisJobStore, api: Api, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    jobs = [await submitted(http) for _ in range(2)]
    for job in jobs:
        await finish(store, job, await claimed(store, job))
        (tmp_path / job / "clients").mkdir(parents=True)
        (tmp_path / job / "model.npz").write_bytes(b"model")
    keeper = Reconciler(store, api.archive, runs=Runs.at(tmp_path))
    remove = Runs.delete

    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Runs, "delete", refuse)
    assert (await http.delete(f"/v1/jobs/{jobs[1]}")).status_code == 204
    await keeper.step()
    assert (tmp_path / jobs[1]).exists()
    monkeypatch.setattr(Runs, "delete", remove)
    await keeper.step()  # what failed is not forgotten
    assert [path.name for path in tmp_path.iterdir()] == [jobs[0]]


async def test_a_job_that_is_canceled_before_it_began_leaves_its_specification(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    await http.post(f"/v1/jobs/{job}/cancel")
    (listed,) = (await http.get(f"/v1/jobs/{job}/artefacts")).json()["artefacts"]
    assert listed["name"] == "config.json"
    assert (await http.get(listed["href"])).json() == (await store.get(job)).spec


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

"""Runs in an object store, which is a process of its own, over the protocol of S3."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftfold_workers import sweeper
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts.forking import Forking
from driftfold_workers.jobs.job import State
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api
from tests.workers import supervisors
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import until
from tests.workers.stories import assert_undisturbed, ended, log_of, recorded, submitted
from tests.workers.supervisors import processes, working
from tests.workers.tables import rows, rows_of_log
from tests.workers.test_sweeper import LEASE, SNAPSHOTS, are_cleared, in_folder, killed_at_its_end

s3fs = pytest.importorskip("s3fs")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio,
    # s3fs leaves its connections to the end of the process.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where runs can be kept; processes that are started meanwhile can reach it."""
    command = [sys.executable, "-m", "tests.workers.object_store"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        s3fs.S3FileSystem.clear_instance_cache()  # one of another test has another port
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "somebody")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("no_proxy", "*")
        starter = Forking()
        monkeypatch.setattr(supervisors, "starter", lambda: starter)
        yield "s3://bucket/runs"
        server.kill()


async def test_a_job_that_changes_hands_leaves_what_it_does_in_a_folder(
    store: RedisJobStore, place: str, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.02)
    job = await submitted(store, experiment(60, checkpoint_every=7))
    async with working(store, place, attempts=9):
        for kill in (10, 30):
            await recorded(store, job.id, kill)
            os.kill(processes()[-1], signal.SIGKILL)
        over = await ended(store, job.id)
    await assert_undisturbed(store, job)
    runs = Runs.at(place)
    table = b"".join(runs.of(job.id).read("rounds.parquet"))
    assert rows(table) == rows_of_log(await log_of(store, job.id))
    api = await Api(store, place).start()
    async with api.client() as http:
        service = api.service
        assert service.runs is not None
        found = runs.artefacts(job.id, over.checkpoint)
        names = [name for name, _ in found]
        assert names == [
            "checkpoint.npz", "config.json", "model.npz", "result.json", "rounds.parquet",
        ]  # fmt: skip
        answer = await http.get(f"/v1/jobs/{job.id}/artefacts/rounds.parquet")
        assert (answer.status_code, answer.content) == (200, table)
        listed = await http.get(f"/v1/jobs/{job.id}/artefacts")
        assert [file["name"] for file in listed.json()["artefacts"]] == names
    await api.stop()
    await supervisors.starter().dismiss()
    runs.delete(job.id)
    assert runs.of(job.id).walk("") == []


async def test_a_worker_is_killed_before_it_clears_up(
    server: EmbeddedServer,
    store: RedisJobStore,
    tmp_path: Path,
    place: str,
    behaviour: Behaviour,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweeper, "EVERY", 0.1)
    runs = Runs.at(place)
    async with killed_at_its_end(server, store, tmp_path, place, State.SUCCEEDED) as job:
        assert len(in_folder(runs, job, "checkpoints")) == SNAPSHOTS
        async with working(store, place, name="bert", lease=LEASE):
            await until(lambda: are_cleared(store))
    assert len(in_folder(runs, job, "checkpoints")) == 1
    await supervisors.starter().dismiss()

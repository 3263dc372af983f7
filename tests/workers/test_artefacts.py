"""What jobs leave: whole, exact after kills, and no more than is of use."""

import asyncio
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from driftfold.checkpoint.disk import DiskStore
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts.messages import Done, Stopped
from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.children import child
from tests.workers.experiments import Behaviour, experiment, undisturbed
from tests.workers.jobs import until
from tests.workers.stories import assert_undisturbed, ended, log_of, recorded, submitted
from tests.workers.supervisors import processes, working
from tests.workers.tables import rows, rows_of, rows_of_log


def files_in(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def test_whoever_finishes_has_the_rounds_of_those_before(
    tmp_path: Path, behaviour: Behaviour
) -> None:
    spec = experiment()
    result, records = undisturbed(spec)
    behaviour.set(pause=0.02)
    with child() as first:
        first.order("a", spec, tmp_path)
        first.hear_records(5)
        first.process.send_signal(signal.SIGTERM)
        assert first.hear_all() == Stopped()
    assert files_in(tmp_path / "a")[-2:] == ["config.json", "output.txt"]  # of one that goes on
    behaviour.set()
    with child() as second:
        second.order("a", spec, tmp_path, epoch=2, checkpoint=f"a.1:{first.saved[0].name}")
        assert isinstance(second.hear_all(), Done)
    folder = tmp_path / "a"
    assert rows((folder / "rounds.parquet").read_bytes()) == rows_of(records)
    assert json.loads((folder / "config.json").read_text()) == spec
    assert (
        json.loads((folder / "result.json").read_text())["metrics"] == result.to_json()["metrics"]
    )
    with np.load(folder / "model.npz") as model:
        assert model["model"].tobytes() == np.asarray(result.model).tobytes()


def test_a_run_that_begins_anew_tells_all_its_rounds(tmp_path: Path) -> None:
    spec = experiment()
    with child() as process:
        process.order("a", spec, tmp_path, epoch=2, checkpoint=f"a.1:000000001-{'0' * 32}")
        assert isinstance(process.hear_all(), Done)
    table = (tmp_path / "a" / "rounds.parquet").read_bytes()
    assert rows(table) == rows_of(undisturbed(spec)[1])


@pytest.mark.slow
@pytest.mark.asyncio
async def test_after_kills_all_is_there_and_one_snapshot(
    store: RedisJobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.02)
    job = await submitted(store, experiment(60, checkpoint_every=7))
    async with working(store, tmp_path, attempts=9):
        for kill in (10, 30, 50):
            await recorded(store, job.id, kill)
            os.kill(processes()[-1], signal.SIGKILL)
        over = await ended(store, job.id)
        folder = tmp_path / job.id
        there = {"config.json", "model.npz", "result.json", "rounds.parquet"}
        assert there <= {path.name for path in folder.iterdir()}  # before it has succeeded
    await assert_undisturbed(store, job)
    assert over.epoch == 4
    table = (folder / "rounds.parquet").read_bytes()
    assert rows(table) == rows_of_log(await log_of(store, job.id))
    assert over.checkpoint is not None
    attempt, _, snapshot = over.checkpoint.partition(":")
    kept = f"checkpoints/{attempt}/{snapshot}.npz"
    assert files_in(folder) == sorted([kept, *there, "output.txt"])
    assert DiskStore(folder / "checkpoints").load(attempt, snapshot).meta["version"] == 56


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_canceled_job_leaves_what_it_has(
    store: RedisJobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.02)
    job = await submitted(store, experiment(1000))
    folder = tmp_path / job.id
    async with working(store, tmp_path):
        await recorded(store, job.id, 10)
        await store.cancel(job.id)
        assert (await ended(store, job.id)).state is State.CANCELED
        await until(lambda: asyncio.to_thread((folder / "rounds.parquet").exists))
    assert rows((folder / "rounds.parquet").read_bytes()) == rows_of_log(
        await log_of(store, job.id)
    )
    assert json.loads((folder / "config.json").read_text()) == job.spec
    assert len(files_in(folder / "checkpoints")) == 1
    assert not (folder / "result.json").exists()


def test_what_is_deleted_leaves_nothing(tmp_path: Path) -> None:
    runs = Runs.at(tmp_path)
    for job in ("a", "b"):
        for name in ("config.json", "checkpoints/a.1/x.npz", "clients/7.npz"):
            runs.of(job).put(name, lambda file: file.write(b"something"))
    runs.delete("a")
    runs.delete("a")  # again, as after an answer that was lost
    assert files_in(tmp_path) == ["b/checkpoints/a.1/x.npz", "b/clients/7.npz", "b/config.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["b"]

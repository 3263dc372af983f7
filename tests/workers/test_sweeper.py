"""Whoever dies between the end of a job and the clearing up after it: others clear up."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from driftfold_workers import sweeper
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import until
from tests.workers.proxies import withholding
from tests.workers.stories import assert_undisturbed, ended, recorded, submitted
from tests.workers.supervisors import working
from tests.workers.workers import ready, worker

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(sys.platform != "linux", reason="a worker of its own, as in the others"),
]

LEASE = 1.0
SNAPSHOTS = 2  # that a run has once it has saved so many


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "EVERY", 0.1)


@asynccontextmanager
async def killed_at_its_end(
    server: EmbeddedServer, store: RedisJobStore, folder: Path, runs: Path | str, state: State
) -> AsyncIterator[Job]:
    """A job that its worker has ended, who was killed before it heard that this was done."""
    async with withholding(server.url, state) as proxy:
        more = {"url": proxy.url, "runs": str(runs), "lease": LEASE}
        with worker(server, store, folder, "anne", **more) as anne:
            await ready(store, "anne")
            job = await submitted(store, experiment(60, checkpoint_every=7))
            if state is State.CANCELED:
                await recorded(store, job.id, 30)
                await store.cancel(job.id)
            await asyncio.wait_for(proxy.withheld.wait(), 60)
            anne.kill()
            await asyncio.to_thread(anne.wait)
        assert (await ended(store, job.id)).state is state
        yield job


def in_folder(runs: Runs, job: Job, folder: str) -> list[str]:
    return [name for name in runs.of(job.id).walk("") if name.startswith(f"{folder}/")]


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.CANCELED])
async def test_a_worker_is_killed_before_it_clears_up(
    server: EmbeddedServer,
    store: RedisJobStore,
    tmp_path: Path,
    behaviour: Behaviour,
    state: State,
) -> None:
    behaviour.set(pause=0.02 if state is State.CANCELED else 0.0)
    runs = Runs.at(tmp_path / "runs")
    async with killed_at_its_end(server, store, tmp_path, tmp_path / "runs", state) as job:
        assert len(in_folder(runs, job, "checkpoints")) == SNAPSHOTS
        behaviour.set(pause=0.02)
        other = await submitted(store, experiment(1000, checkpoint_every=7))
        async with working(store, tmp_path / "runs", name="bert", lease=LEASE):
            await recorded(store, other.id, 30)
            await until(lambda: are_cleared(store))
            left = in_folder(runs, job, "checkpoints")
            over = await store.get(job.id)
            assert over.checkpoint is not None
            assert left == [f"checkpoints/{over.checkpoint.replace(':', '/')}.npz"]
            assert (tmp_path / "runs" / job.id / "rounds.parquet").exists()
            # Another's that runs has all that it had.
            assert len(in_folder(runs, other, "checkpoints")) == SNAPSHOTS
            await store.cancel(other.id)
            await ended(store, other.id)
    if state is State.SUCCEEDED:
        await assert_undisturbed(store, job)


async def are_cleared(store: RedisJobStore) -> bool:
    there = await store._link.call(lambda redis: redis.zcard(store.keys.uncleared))
    return int(there) == 0


async def test_what_cannot_be_cleared_up_now_is_later(
    store: RedisJobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "PAUSE", 0.1)
    job = await store.submit({}, [])
    claim = await store.claim("anne", [], 0.001)
    assert claim is not None
    await store.finish(job.id, claim.epoch, State.FAILED)
    place = tmp_path / "runs"
    place.write_text("a file, where the folder should be")
    async with working(store, place):
        await asyncio.sleep(0.5)
        assert not await are_cleared(store)
        place.unlink()
        await until(lambda: are_cleared(store))
    assert (place / job.id / "config.json").exists()

"""The network to one worker stalls past its lease, and flows again."""

import sys
from pathlib import Path

import pytest

from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import told, until
from tests.workers.proxies import stalling
from tests.workers.stories import assert_undisturbed, ended, happened, recorded, submitted
from tests.workers.supervisors import running_process, working
from tests.workers.workers import alive

LEASE = 1.0


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.asyncio
async def test_another_worker_takes_over_and_the_first_writes_nothing_more(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.05)
    job = await submitted(store, experiment(100, checkpoint_every=7))
    async with (
        stalling(server.url) as network,
        RedisJobStore.open(network.url, prefix=store.keys.prefix) as far,
        working(far, tmp_path, name="far", lease=LEASE),
    ):
        await recorded(store, job.id, 12)  # a snapshot is behind them
        cut_off = await running_process(tmp_path, job)
        network.flows.clear()
        async with working(store, tmp_path, name="near", lease=LEASE):
            await until(lambda: _worker_is(store, job.id, "near"))
            assert alive(cut_off)  # nobody can tell it
            network.flows.set()
            await until(lambda: _gone(cut_off))
            behaviour.set()
            await ended(store, job.id)
    await assert_undisturbed(store, job)
    kinds = [kind for kind in await told(store, job.id) if kind != "checkpoint"]
    assert kinds == ["submitted", "claimed", "lost", "resumed", "succeeded"]
    lost = (await happened(store, job.id, "lost")).facts
    assert (lost["outcome"], lost["worker"]) == ("lease lost", "far")


async def _worker_is(store: RedisJobStore, job: str, name: str) -> bool:
    return (await store.get(job)).worker == name


async def _gone(pid: int) -> bool:
    return not alive(pid)

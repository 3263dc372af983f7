"""Everything at once, at random: each job ends once, each record is there once, undisturbed."""

import asyncio
import os
import random
import signal
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import told
from tests.workers.stories import assert_undisturbed, ended, submitted
from tests.workers.workers import children_of, worker

JOBS, ROUNDS, FAULTS = 12, 60, 25
PAUSE = 0.05  # seconds a round takes
LEASE = 2.0


class Fleet:
    """Two workers, one of them with two slots; whoever is killed is replaced."""

    def __init__(self, server: EmbeddedServer, store: RedisJobStore, folder: Path) -> None:
        self.server, self.store, self.folder = server, store, folder
        self.stack = ExitStack()
        self.pids: list[int] = []
        self.begun = 0

    def begin(self, slots: int) -> None:
        self.begun += 1
        worker_ = worker(
            self.server, self.store, self.folder, f"w{self.begun}", slots=slots, attempts=1000
        )
        self.pids.append(self.stack.enter_context(worker_).pid)

    async def hurt(self, chance: random.Random) -> str:
        fault = chance.choice(["child", "child", "worker", "stop", "drain", "store"])
        pid = chance.choice(self.pids)
        if fault == "child":
            with suppress(ProcessLookupError, IndexError):
                os.kill(chance.choice(children_of(pid)), signal.SIGKILL)
        elif fault == "stop":
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(LEASE * chance.uniform(0.2, 2.0))
            os.kill(pid, signal.SIGCONT)
        elif fault == "store":
            os.kill(self.server.pid, signal.SIGKILL)
            await asyncio.sleep(chance.uniform(0.1, 1.5 * LEASE))
            await asyncio.to_thread(self.server.restart)
        else:
            os.kill(pid, signal.SIGKILL if fault == "worker" else signal.SIGTERM)
            self.pids.remove(pid)
            self.begin(chance.choice([1, 2]))
        return fault


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.asyncio
@pytest.mark.parametrize("seed", [1, 2])
async def test_chaos(
    seed: int,
    server: EmbeddedServer,
    store: RedisJobStore,
    tmp_path: Path,
    behaviour: Behaviour,
) -> None:
    chance = random.Random(seed)
    behaviour.set(pause=PAUSE)
    jobs = [
        await submitted(store, experiment(ROUNDS, seed=number, checkpoint_every=7))
        for number in range(JOBS)
    ]
    fleet = Fleet(server, store, tmp_path)
    with fleet.stack:
        fleet.begin(1)
        fleet.begin(2)
        for _ in range(FAULTS):
            await asyncio.sleep(chance.uniform(0.3, 1.5))
            print(await fleet.hurt(chance), end=" ")
        behaviour.set()
        for job in jobs:
            await ended(store, job.id)
    for job in jobs:
        await assert_undisturbed(store, job)
        kinds = await told(store, job.id)
        assert kinds.count("succeeded") == 1
        assert kinds[-1] == "succeeded"
    print("attempts:", [(await store.get(job.id)).epoch for job in jobs])

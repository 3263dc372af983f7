"""The reaper gives leases their length again when nobody could renew them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from driftfold_workers import reaper
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.store import StoreRefuses
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.settings import Settings
from driftfold_workers.stopping import stopped

LEASE = 0.3


class Refusing(RedisJobStore):
    """Takes no writes when it is asked first; tells when it was asked."""

    asked: list[float]

    async def reap(self, attempts: int) -> Sequence[str]:
        self.asked.append(asyncio.get_running_loop().time())
        if len(self.asked) == 1:
            raise StoreRefuses("no room")
        return []


@pytest.mark.asyncio
async def test_after_a_refusal_nothing_is_reaped_for_a_lease(
    server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper, "EVERY", 0.001)
    async with Refusing.open(server.url) as store:
        store.asked = []
        settings = Settings("anne", Runs.at(tmp_path), lease=LEASE)
        reaping = asyncio.create_task(reaper.reap_forever(store, settings))
        async with asyncio.timeout(30):
            while len(store.asked) < 3:
                await asyncio.sleep(0.01)
        await stopped(reaping)
    first, second = store.asked[:2]
    assert second - first >= LEASE * 0.99  # the clock of the loop is coarse

"""The keeper: one at a time is in charge, another follows it, and trouble passes."""

import asyncio
import logging
import os
import signal

import pytest

from driftfold_api.archive.base import Wanted
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.recording import keeper as module
from driftfold_api.recording.keeper import Keeper
from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.stopping import stopped
from tests.recording.stories import running
from tests.workers import servers
from tests.workers.jobs import KINDS, SPEC, lines, until

pytestmark = pytest.mark.asyncio


async def test_one_is_in_charge(store: RedisJobStore) -> None:
    lead = store.window.lead
    assert await lead("anne", 30.0) == "begins"
    assert await lead("anne", 30.0) == "goes on"
    assert await lead("bert", 30.0) == "another"
    assert await lead("bert", 0.0) == "another"
    assert await lead("anne", 0.0) == "another"  # it gave it up
    assert await lead("bert", 0.05) == "begins"
    await until(lambda: _begins(store))


async def _begins(store: RedisJobStore) -> bool:
    return await store.window.lead("carl", 30.0) == "begins"


async def test_one_that_is_late_is_overtaken_and_waits_for_its_turn(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    claim = await running(store, archive)
    first, second = Keeper(store, archive, lease=30.0), Keeper(store, archive, lease=30.0)
    assert await first.step() < 1.0
    assert await second.step() == 10.0
    await store.window.lead(first.name, 0.0)  # its lease is over, unnoticed
    await second.step()
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 2))
    assert await first.step() == 10.0
    await second.step()
    assert await archive.read(claim.job.id) == lines(1, 2)


async def test_it_keeps_the_archive_until_it_is_stopped(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    keeping = asyncio.create_task(Keeper(store, archive, every=0.01).run())
    claim = await running(store, archive)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 5))
    await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED)

    async def over() -> bool:
        return (await archive.get(claim.job.id)).state is State.SUCCEEDED

    await until(over)
    await stopped(keeping)
    assert await archive.read(claim.job.id) == lines(1, 5)
    assert await store.window.lead("another", 9.0) == "begins"  # it gave its lease up


async def test_it_goes_on_when_the_job_store_is_back(
    archive: SqlArchive, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def said() -> bool:
        return "nothing is recorded now" in caplog.text

    async def there() -> bool:
        return not await store.window.unknown([job.id])

    async def recorded() -> bool:
        return await archive.read(claim.job.id) == lines(1, 3)

    monkeypatch.setattr(module, "REST", 0.05)
    monkeypatch.setattr(module, "RECONCILE_EVERY", 0.0)
    with servers.running() as server, caplog.at_level(logging.WARNING):
        async with servers.store_on(server, patience=0.1) as store:
            keeping = asyncio.create_task(Keeper(store, archive, every=0.01, grace=0.0).run())
            claim = await running(store, archive)
            os.kill(server.pid, signal.SIGKILL)
            job, _ = await archive.accept(Wanted(SPEC, KINDS))
            await until(said)
            await asyncio.to_thread(server.restart)
            await until(there)
            await store.append(claim.job.id, claim.epoch, 1, lines(1, 3))
            await until(recorded)
            await stopped(keeping)
    assert caplog.text.count("nothing is recorded now") <= 3

"""What jobs have used up is recorded, and outlives the job store."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from driftfold.spec import from_mapping
from driftfold_api.archive.base import Wanted
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.recording.reconciler import Reconciler
from driftfold_api.recording.recorder import Recorder
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.needs import needs_of
from driftfold_workers.jobs.store import UnknownJob
from driftfold_workers.jobs.terms import Limits, Terms
from driftfold_workers.jobs.usage import UNUSED, Usage
from driftfold_workers.redis_store import RedisJobStore
from tests.recording.stories import lose, running
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import claimed, until
from tests.workers.stories import ended
from tests.workers.supervisors import working

pytestmark = pytest.mark.asyncio


@pytest.fixture
def behaviour() -> Iterator[Behaviour]:
    """What the processes of a test do, beside what their specification says."""
    behaviour = Behaviour()
    yield behaviour
    behaviour.forget()


async def test_it_is_recorded_now_and_then_though_nothing_is_told(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    claim = await running(store, archive)
    job = claim.job.id
    await recorder.step(fence)
    assert (await archive.get(job)).used == UNUSED
    found = []
    for wall in (0.25, 4.75, 5.0, 5.25, 9.75, 10.25):
        await store.heartbeat(job, claim.epoch, 30.0, Usage(wall / 2, wall))
        if await store.window.unrecorded(9) == [job]:
            found.append(wall)
            await recorder.step(fence)
            assert (await archive.get(job)).used == Usage(wall / 2, wall)
            assert await store.window.unrecorded(9) == []
    assert found == [5.0, 10.25]
    await store.finish(job, claim.epoch, State.FAILED, used=Usage(6.0, 11.0))
    await recorder.step(fence)
    assert (await archive.get(job)).used == Usage(6.0, 11.0)


async def test_a_job_whose_store_is_lost_goes_on_with_what_it_had_used(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    claim = await running(store, archive)
    job = claim.job.id
    await store.heartbeat(job, claim.epoch, 30.0, Usage(7.5, 8.25))
    await recorder.step(fence)
    await lose(store)
    assert await Reconciler(store, archive, grace=0.0).step() == [job]
    again = await claimed(store)
    assert (again.job.id, again.job.used) == (job, Usage(7.5, 8.25))


@pytest.mark.slow
async def test_limits_hold_though_the_job_store_is_lost(
    store: RedisJobStore, archive: SqlArchive, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.05)
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    spec = experiment(100_000, checkpoint_every=3)
    terms = Terms(limits=Limits(wall=3.0))
    job, _ = await archive.accept(Wanted(spec, needs_of(from_mapping(spec)), terms=terms))
    await store.enqueue(job)

    async def has_used_most() -> bool:
        await recorder.step(fence)
        return (await archive.get(job.id)).used.wall > 2.0

    async def has_gone() -> bool:
        with suppress(UnknownJob):
            return (await store.get(job.id)).worker == ""
        return True

    async with working(store, tmp_path, attempts=9) as supervisor:
        await until(has_used_most)
        recorded = (await archive.get(job.id)).used.wall
        await lose(store)
        await until(has_gone)
        while supervisor.busy:  # the attempt at the job that was lost
            await asyncio.sleep(0.01)
        assert await Reconciler(store, archive, grace=0.0).step() == [job.id]
        over = await ended(store, job.id)
    assert over.reason.startswith("over its limit of 3 s of running")
    # It is looked at four times a second; the machine may be busy.
    assert 2.0 < recorded < 3.0 < over.used.wall < 4.0
    while await recorder.step(fence):
        pass
    assert (await archive.get(job.id)).used == over.used

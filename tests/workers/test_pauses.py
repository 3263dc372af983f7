"""Jobs that are paused and resumed have the numbers of those that are not."""

from pathlib import Path

import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import JobStore
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import told, until
from tests.workers.stories import assert_undisturbed, ended, happened, recorded, submitted
from tests.workers.supervisors import processes, working

pytestmark = pytest.mark.asyncio


async def test_a_paused_job_frees_its_slot_and_goes_on_bit_for_bit(
    store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.02)
    job = await submitted(store, experiment())
    async with working(store, tmp_path):
        await recorded(store, job.id, 12)
        other = await submitted(store, experiment(seed=2))
        asked = (await store.pause(job.id)).rounds

        async def paused() -> bool:
            return (await store.get(job.id)).state is State.PAUSED

        await until(paused)
        there = await store.get(job.id)
        assert (there.attempt, there.checkpoint is None) == (0, False)
        assert asked <= there.rounds < 40
        behaviour.set()
        await ended(store, other.id)
        assert (await store.get(job.id)).state is State.PAUSED
        await store.resume(job.id)
        await ended(store, job.id)
    await assert_undisturbed(store, job)
    await assert_undisturbed(store, other)
    assert (await happened(store, job.id, "released")).facts["outcome"] == "paused"
    assert (await happened(store, job.id, "resumed")).facts["seq"] == there.seq
    assert (await store.get(job.id)).attempt == 1
    assert processes() == []


@pytest.mark.slow
async def test_a_job_is_paused_at_every_opportunity(
    store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.01)
    job = await submitted(store, experiment(60, checkpoint_every=7))
    pauses = 0
    async with working(store, tmp_path, attempts=1):
        while not (known := await store.get(job.id)).state.final:
            if known.state is State.RUNNING and not known.pausing:
                await store.pause(job.id)
                pauses += 1
            elif known.state is State.PAUSED:
                await store.resume(job.id)
                await recorded(store, job.id, known.seq + 1)
    await assert_undisturbed(store, job)
    assert pauses >= 5
    assert (await told(store, job.id)).count("resumed") >= 4

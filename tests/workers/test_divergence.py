"""A kind whose numbers depend on the clock is found out when a run of it goes on elsewhere."""

import os
import signal
from pathlib import Path

import pytest

from driftfold_workers.jobs.store import JobStore
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import numbers, told
from tests.workers.stories import ended, log_of, recorded, submitted
from tests.workers.supervisors import running_process, working


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_run_that_depends_on_the_clock_is_told(
    store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.05, clock=True)
    job = await submitted(store, experiment())
    async with working(store, tmp_path):
        await recorded(store, job.id, 12)
        before = await log_of(store, job.id)
        os.kill(await running_process(tmp_path, job), signal.SIGKILL)
        behaviour.set(clock=True)
        over = await ended(store, job.id)
    assert over.state == "succeeded"
    assert over.diverged is not None
    assert (await told(store, job.id)).count("diverged") == 1
    log = await log_of(store, job.id)
    assert log[: len(before)] == before
    assert numbers(log) == list(range(1, over.seq + 1))

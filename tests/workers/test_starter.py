"""New interpreters, as processes are started where none can be forked."""

import asyncio
from pathlib import Path

import pytest

from driftfold_workers.attempts.starter import Spawning
from tests.workers.attempts import numbers, order, said
from tests.workers.experiments import SAME, experiment, undisturbed


@pytest.mark.asyncio
async def test_a_new_interpreter_has_the_numbers_of_the_library(tmp_path: Path) -> None:
    async with Spawning() as starter:
        await starter.ready()
        process = await starter.start()
        process.order(order(tmp_path))
        heard = await said(process)
    result, records = await asyncio.to_thread(undisturbed, experiment(6))
    assert numbers(heard) == ({name: result.to_json()[name] for name in SAME}, records)

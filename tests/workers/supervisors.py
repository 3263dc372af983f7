"""Supervisors in this process, real processes for their attempts."""

import asyncio
import atexit
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts.child import NAME
from driftfold_workers.attempts.forking import best_starter
from driftfold_workers.attempts.starter import Starter
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.needs import kinds_here
from driftfold_workers.jobs.store import JobStore
from driftfold_workers.settings import Settings
from driftfold_workers.supervisor import Supervisor
from tests.workers.experiments import PLUGIN, experiment


@asynccontextmanager
async def working(store: JobStore, folder: Path | str, **more: Any) -> AsyncIterator[Supervisor]:
    """A supervisor that works meanwhile, and drains in the end."""
    facts = {"name": "anne", "lease": 3.0, "plugins": (PLUGIN,), "attempts": 3, **more}
    experiment()  # loads the plug-in
    settings = Settings(runs=Runs.at(folder), **facts)
    supervisor = Supervisor(store, kinds_here(), settings, starter())
    await starter().ready()
    drain = asyncio.Event()
    task = asyncio.create_task(supervisor.run(drain))
    try:
        yield supervisor
    finally:
        drain.set()
        await asyncio.wait_for(task, 30)


@cache
def starter() -> Starter:
    """Starts the processes of all tests, so that their imports are done once."""
    shared = best_starter()
    atexit.register(lambda: asyncio.run(shared.dismiss()))
    return shared


def processes() -> list[int]:
    """Children of this process that run attempts or wait for one, oldest first."""
    pids = []
    for task in Path("/proc/self/task").iterdir():
        for pid in map(int, (task / "children").read_text().split()):
            if Path(f"/proc/{pid}/comm").read_text().strip() == NAME:
                pids.append(pid)
    return sorted(pids)


async def running_process(folder: Path, job: Job) -> int:
    """The process that has the job's output open."""
    output = folder / job.id / "output.txt"
    return next(
        pid for pid in processes() if Path(f"/proc/{pid}/fd/1").resolve() == output.resolve()
    )

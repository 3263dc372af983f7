"""Workers as processes of their own, each in a working directory of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from driftfold_workers.jobs.store import JobStore
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.experiments import PLUGIN
from tests.workers.jobs import until

CODE = """
import json, sys
from driftfold_workers.worker import run_worker
run_worker(**json.loads(sys.argv[1]))
"""


@contextmanager
def worker(
    server: EmbeddedServer, store: RedisJobStore, folder: Path, name: str, **more: Any
) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker with the test's plug-in, whose runs are in `folder`."""
    home = folder / f"home of {name}"
    home.mkdir()
    runs = os.path.relpath(folder / "runs", home)  # the same place, whatever it is called
    facts: dict[str, Any] = {"url": server.url, "prefix": store.keys.prefix, "name": name}
    facts |= {"runs": runs, "plugins": [PLUGIN], "lease": 2.0, **more}
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", CODE, json.dumps(facts)],
            cwd=home,
            stderr=log,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def ready(store: JobStore, *names: str) -> None:
    """Workers of these names, and no others, are there."""

    async def are_there() -> bool:
        return sorted(w["name"] for w in await store.workers()) == sorted(names)

    await until(are_there, 60)


def children_of(pid: int) -> list[int]:
    """Process numbers of the children of a process."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

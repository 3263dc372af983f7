"""Processes that are forked from a template: each is as good as a new one, and outlives it."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from driftfold.spec import load_spec, to_mapping
from driftfold_workers.artefacts.runs import OUTPUT
from driftfold_workers.attempts.forking import Forking
from driftfold_workers.attempts.messages import Done
from driftfold_workers.attempts.starter import Spawning
from driftfold_workers.jobs.needs import computes_with_torch, needs_of
from driftfold_workers.jobs.store import JobStore
from tests.workers.attempts import numbers, order, said
from tests.workers.experiments import PLUGIN, SAME, Behaviour, experiment, undisturbed
from tests.workers.jobs import told, until
from tests.workers.stories import assert_undisturbed, ended, recorded, submitted
from tests.workers.supervisors import running_process, starter, working
from tests.workers.workers import alive

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt others"),
]


def shared() -> Forking:
    """The one that all tests share: it must live on."""
    forking = starter()
    assert isinstance(forking, Forking)
    return forking


def open_files(pid: int | str) -> dict[str, str]:
    """What the descriptors of a process are of, by number."""
    files = {}
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            files[file.name] = str(file.readlink())
        except FileNotFoundError:  # the one that looks
            continue
    return files


async def test_attempts_outlive_the_template_and_the_next_has_another(
    store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.05)
    first = await submitted(store, experiment(40))
    async with working(store, tmp_path):
        await recorded(store, first.id, 5)
        process = await running_process(tmp_path, first)
        (template,) = shared().templates
        os.kill(template, signal.SIGKILL)
        await recorded(store, first.id, 10)
        assert alive(process)
        behaviour.set()
        await ended(store, first.id)
        second = await submitted(store, experiment(6))
        assert (await ended(store, second.id)).attempt == 1
    for job in (first, second):
        await assert_undisturbed(store, job)
        assert await told(store, job.id) == ["submitted", "claimed", "succeeded"]
    assert shared().templates != (template,)


async def test_a_template_that_ends_while_it_is_asked_is_replaced(
    tmp_path: Path,
) -> None:
    await shared().ready()
    (template,) = shared().templates
    os.kill(template, signal.SIGSTOP)
    starting = asyncio.create_task(shared().start())
    await asyncio.sleep(0.1)
    assert not starting.done()
    os.kill(template, signal.SIGKILL)
    process = await starting
    process.order(order(tmp_path))
    assert isinstance((await said(process))[-1], Done)


STRANGE = """
import os, random, tempfile, uuid
from pathlib import Path
import numpy as np
drawn = (np.random.random(), random.random(), next(tempfile._get_candidate_names()), uuid.uuid4())
files = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
         if os.path.exists(f"/proc/self/fd/{fd}")}
print(*drawn)
print(sorted(file.partition(":")[0] for file in files.values()))
print(Path("/proc/self/oom_score_adj").read_text().strip(), os.getsid(0) == os.getpid())
"""


async def test_what_a_process_has_is_its_own(tmp_path: Path) -> None:
    plugin = tmp_path / "strange.py"
    plugin.write_text(STRANGE)
    heard = []
    for job in ("a", "b"):
        process = await shared().start()
        process.order(order(tmp_path, job, plugins=(PLUGIN, str(plugin))))
        assert isinstance((await said(process))[-1], Done)
        drawn, files, rest = (tmp_path / job / OUTPUT).read_text().splitlines()
        heard.append(drawn.split())
        output = str(tmp_path / job / OUTPUT)
        assert files == str(sorted([output, output, "pipe", "pipe"]))
        assert rest == "500 True"
    assert not set(heard[0]) & set(heard[1])


@pytest.mark.parametrize("count", [5, pytest.param(50, marks=pytest.mark.slow)])
async def test_many_processes_leave_nothing(count: int, tmp_path: Path) -> None:
    await (await shared().start()).dismiss()
    (template,) = shared().templates
    result, records = await asyncio.to_thread(undisturbed, experiment(6))
    wanted = {name: result.to_json()[name] for name in SAME}, records
    before = open_files("self"), open_files(template)
    for number in range(count):
        process = await shared().start()
        if number % 5 == 0:
            process.order(order(tmp_path, f"job {number}"))
            assert numbers(await said(process)) == wanted
        else:
            await process.dismiss()
    assert (open_files("self"), open_files(template)) == before
    assert len(list(Path(f"/proc/{template}/task").iterdir())) == 1
    children = Path(f"/proc/{template}/task/{template}/children").read_text()
    assert children == ""


PARENT = """
import asyncio, sys
from pathlib import Path
from driftfold_workers.attempts.forking import Forking
from tests.workers.attempts import order
async def main():
    async with Forking() as forking:
        process = await forking.start()
        process.order(order(Path(sys.argv[1])))
        async for _ in process.messages():
            break
        print(process.pid, *forking.templates, flush=True)
        await asyncio.sleep(1000)
asyncio.run(main())
"""


async def test_all_end_with_their_supervisor(tmp_path: Path, behaviour: Behaviour) -> None:
    behaviour.set(**{"from": 3, "deaf": True})  # it neither writes nor reads
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    with parent:
        pids = [int(pid) for pid in (await asyncio.to_thread(parent.stdout.readline)).split()]
        parent.kill()
    assert len(pids) == 2
    for pid in pids:
        await until(lambda pid=pid: gone(pid))  # type: ignore[misc]


async def gone(pid: int) -> bool:
    return not alive(pid)


LOADED = """
import sys
print("torch" in sys.modules, len(list(__import__("pathlib").Path("/proc/self/task").iterdir())))
"""


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["orthonormal-network", "spd-network"])
async def test_torch_gives_the_bits_of_a_new_interpreter(preset: str, tmp_path: Path) -> None:
    spec = load_spec({"extends": preset, "horizon": {"rounds": 4}})
    assert computes_with_torch(needs_of(spec))
    plugin = tmp_path / "loaded.py"
    plugin.write_text(LOADED)
    given = {"spec": to_mapping(spec), "plugins": (str(plugin),)}
    async with Forking() as forking, Spawning() as spawning:
        heard = []
        for job, starter in (("new", spawning), ("plain", forking), ("warm", forking)):
            if job == "warm":
                async with asyncio.timeout(300):
                    while not forking.ready_with_torch:
                        await asyncio.sleep(0.1)
            process = await starter.start(torch=True)
            process.order(order(tmp_path, job, **given))
            heard.append(numbers(await said(process)))
        for template in forking.templates:
            assert len(list(Path(f"/proc/{template}/task").iterdir())) == 1
    assert heard[0] == heard[1] == heard[2]
    loaded = [(tmp_path / job / OUTPUT).read_text().split()[0] for job in ("new", "plain", "warm")]
    assert loaded == ["False", "False", "True"]

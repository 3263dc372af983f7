"""A study is killed while its processes live, and goes on where it stopped by the same command."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driftfold.run import run
from driftfold.studies.cells import Cell
from driftfold.studies.collecting import is_done
from driftfold.studies.crew import GRACE
from driftfold.telemetry.reader import read_records
from tests.modules import ROOT
from tests.studies.lasting import CELLS, family, gone, place, start, until
from tests.workers.workers import alive

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
]
SHORT, *LONG = CELLS


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each cell's log tells, run by itself."""
    told = {}
    for cell in CELLS:
        folder = tmp_path_factory.mktemp("whole") / cell.arm
        run(cell.spec, folder=folder)
        told[cell.name] = tale(folder)
    return told


def tale(folder: Path) -> list[Any]:
    """All that a log tells of the experiment, line by line."""
    return [(r.seq, r.kind, r.time, r.version, r.values) for r in read_records(folder)]


def result(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return read


def snapshots(here: Path, cell: Cell) -> int:
    return sum(1 for path in (place(here, cell) / "checkpoints").rglob("*.npz"))


@pytest.fixture
def begun(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """The study in full swing: a cell is done, and two are under way and have snapshots."""
    first = start(tmp_path, "--only", "short")
    assert (first.communicate(), first.returncode)[1] == 0
    process = start(tmp_path)
    try:
        until(lambda: all(snapshots(tmp_path, cell) for cell in LONG))
        yield process
    finally:
        for pid in {process.pid, *family(process.pid)}:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        process.communicate()


def goes_on(here: Path, undisturbed: dict[str, list[Any]]) -> None:
    """The same command ends all, with the numbers of an undisturbed study."""
    process = start(here)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    for cell in CELLS:
        assert is_done(cell, here / "runs" / "lasting")
        assert tale(place(here, cell)) == undisturbed[cell.name]


def mark(folder: Path) -> tuple[int, int]:
    stat = (folder / "result.json").stat()
    return stat.st_ino, stat.st_mtime_ns


@pytest.mark.parametrize("wait", [False, True], ids=["at once", "later"])
def test_the_study_is_killed(
    begun: "subprocess.Popen[str]", wait: bool, tmp_path: Path, undisturbed: dict[str, list[Any]]
) -> None:
    """Its processes end after their round, with a snapshot, also if it is begun again at once."""
    processes, done = family(begun.pid), mark(place(tmp_path, SHORT))
    assert len(processes) >= 2
    begun.kill()
    begun.wait()
    if wait:
        until(lambda: gone(processes))
        assert [result(place(tmp_path, cell))["ended"] for cell in LONG] == ["stopped"] * 2
    goes_on(tmp_path, undisturbed)
    assert gone(processes)
    assert all(result(place(tmp_path, cell))["resumed_from"] > 0 for cell in LONG)
    assert mark(place(tmp_path, SHORT)) == done


def test_a_process_of_a_cell_is_killed(
    begun: "subprocess.Popen[str]", tmp_path: Path, undisturbed: dict[str, list[Any]]
) -> None:
    """Its cell has failed, and the others go on; the same command takes it up where it was."""
    done = mark(place(tmp_path, SHORT))
    os.kill(worker_of(begun.pid, place(tmp_path, LONG[0])), signal.SIGKILL)
    _, said = begun.communicate(timeout=120)
    assert begun.returncode == 1
    assert f"{LONG[0].name}: its process died (SIGKILL)" in said
    assert is_done(LONG[1], tmp_path / "runs" / "lasting")
    assert not is_done(LONG[0], tmp_path / "runs" / "lasting")
    other = mark(place(tmp_path, LONG[1]))
    goes_on(tmp_path, undisturbed)
    assert result(place(tmp_path, LONG[0]))["resumed_from"] > 0
    assert (mark(place(tmp_path, SHORT)), mark(place(tmp_path, LONG[1]))) == (done, other)


def test_everybody_is_killed(
    begun: "subprocess.Popen[str]", tmp_path: Path, undisturbed: dict[str, list[Any]]
) -> None:
    """As by a loss of power: nobody can take a last snapshot."""
    os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    goes_on(tmp_path, undisturbed)
    assert all(result(place(tmp_path, cell))["resumed_from"] > 0 for cell in LONG)


def test_ctrl_c_in_a_terminal(
    begun: "subprocess.Popen[str]", tmp_path: Path, undisturbed: dict[str, list[Any]]
) -> None:
    """The terminal sends it to all; the study says how to go on, and reports what there is."""
    processes = family(begun.pid)
    working = {worker_of(begun.pid, place(tmp_path, cell)) for cell in LONG}
    os.killpg(begun.pid, signal.SIGINT)
    _, said = begun.communicate(timeout=60)
    assert begun.returncode == 130
    assert "interrupted; go on with: driftfold study lasting --jobs 2" in said
    assert "Traceback" not in said
    assert gone(working)
    until(lambda: gone(processes))  # what looks after shared memory ends by itself, soon after
    assert (tmp_path / "runs" / "lasting" / "report.html").exists()
    goes_on(tmp_path, undisturbed)
    assert all(result(place(tmp_path, cell))["resumed_from"] > 0 for cell in LONG)


def test_ctrl_c_twice_waits_for_nobody(
    begun: "subprocess.Popen[str]", tmp_path: Path, undisturbed: dict[str, list[Any]]
) -> None:
    """One process does not answer, and would be waited for; the second time it is killed."""
    processes = family(begun.pid)
    working = {worker_of(begun.pid, place(tmp_path, cell)) for cell in LONG}
    os.kill(worker_of(begun.pid, place(tmp_path, LONG[0])), signal.SIGSTOP)
    begun.send_signal(signal.SIGINT)
    until(lambda: result_of(place(tmp_path, LONG[1])) == "stopped")  # it does wait, for one
    begun.send_signal(signal.SIGINT)
    _, said = begun.communicate(timeout=10)
    assert begun.returncode == 130, said
    assert gone(working)
    until(lambda: gone(processes))  # what looks after shared memory ends by itself, soon after
    goes_on(tmp_path, undisturbed)


def worker_of(study: int, folder: Path) -> int:
    """The process that has a run's log open."""
    for pid in family(study):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            if file.resolve() == (folder / "records.jsonl").resolve():
                return pid
    raise AssertionError("nobody writes there")


def result_of(folder: Path) -> str:
    try:
        return str(result(folder)["ended"])
    except FileNotFoundError:
        return ""


CREW = """
import sys
from pathlib import Path
from driftfold.studies.crew import Crew
from tests.studies.tiny import Endless, Stuck
with Crew(1) as crew:
    order = {"endless": Endless, "stuck": Stuck}[sys.argv[1]]
    for event in crew.work([("it", order(Path("how")))]):
        pass
"""


@pytest.mark.parametrize(("order", "ended"), [("endless", "in order"), ("stuck", "begun")])
def test_nobody_outlives_a_crew_that_was_killed(tmp_path: Path, order: str, ended: str) -> None:
    """Who can ends in order, though it has nobody to tell; who is stuck ends all the same."""
    how = tmp_path / "how"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    crew = subprocess.Popen([sys.executable, "-c", CREW, order], cwd=tmp_path, env=environment)
    until(lambda: how.exists() and how.read_text() == "begun")
    processes = family(crew.pid)
    crew.kill()
    crew.wait()
    until(lambda: gone(processes), 3 * GRACE)
    assert how.read_text() == ended

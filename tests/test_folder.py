"""A run's folder: one writer at a time, one specification, and nothing half made."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from driftfold.errors import CapabilityError, DataError, RunError
from driftfold.folder import only_writer
from driftfold.run import run
from driftfold.spec import JobSpec, load_spec
from driftfold.telemetry import read_records

HOLDER = """
import sys
from pathlib import Path
from driftfold.folder import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def spec(*changes: str) -> JobSpec:
    return load_spec("pca-synthetic", overrides=["horizon.rounds=3", *changes])


@contextmanager
def another_process_writes_in(folder: Path) -> Iterator[subprocess.Popen[str]]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        yield holder
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no such locks")
def test_two_processes_do_not_write_in_one_folder(tmp_path: Path) -> None:
    with another_process_writes_in(tmp_path / "a") as holder:
        with pytest.raises(RunError, match=rf"another run writes in {tmp_path / 'a'}; wait"):
            run(spec(), folder=tmp_path / "a", resume=True)
        assert [path.name for path in (tmp_path / "a").iterdir()] == [".lock"]
        holder.kill()  # the system lets go, whatever the process would have done
        holder.wait()
        assert run(spec(), folder=tmp_path / "a").rounds == 3


def test_the_folder_is_free_after_a_run_and_after_one_that_failed(tmp_path: Path) -> None:
    run(spec(), folder=tmp_path)
    with pytest.raises(RunError, match="already holds a run"):
        run(spec(), folder=tmp_path)
    with only_writer(tmp_path):
        pass


def test_a_run_is_resumed_with_its_own_specification_only(tmp_path: Path) -> None:
    run(spec(), folder=tmp_path)
    before = (tmp_path / "spec.json").read_bytes(), read_records(tmp_path)
    with pytest.raises(RunError, match="holds a run of another specification"):
        run(spec("seed=1"), folder=tmp_path, resume=True)
    assert before == ((tmp_path / "spec.json").read_bytes(), read_records(tmp_path))
    assert run(spec("name='renamed'"), folder=tmp_path, resume=True).rounds == 3


def test_specification_and_result_are_replaced_as_a_whole(tmp_path: Path) -> None:
    """Never written in place, where a kill would leave half of one."""
    run(spec(), folder=tmp_path / "a")
    for name in ("spec.json", "result.json"):
        os.link(tmp_path / "a" / name, tmp_path / name)
    before = [(tmp_path / name).read_bytes() for name in ("spec.json", "result.json")]
    run(spec("name='renamed'"), folder=tmp_path / "a", resume=True)
    assert [(tmp_path / name).read_bytes() for name in ("spec.json", "result.json")] == before
    for name in ("spec.json", "result.json"):
        assert not (tmp_path / "a" / name).samefile(tmp_path / name)
    assert not list((tmp_path / "a").glob("*.part"))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (["estimator={kind='oracle'}", "participation={kind='diurnal'}"], CapabilityError),
        (
            ["estimator={kind='oracle'}", "participation={kind='bernoulli', p=0.0}"],
            CapabilityError,
        ),
        (["task={kind='pca', rank=2, data={kind='npz', path='nowhere.npz'}}"], DataError),
    ],
    ids=["unknown probability", "probability zero", "no data"],
)
def test_what_cannot_begin_leaves_nothing(
    tmp_path: Path, changes: list[str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        run(spec(*changes), folder=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"cannot write in .*file.*; give a folder"):
        run(spec(), folder=tmp_path / "file" / "a")

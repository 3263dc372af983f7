"""Every checkpoint store keeps one contract; also when its writer is killed at any moment."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from driftfold.checkpoint import CheckpointStore, DiskStore, MemoryStore, Snapshot, open_store
from driftfold.errors import CheckpointError
from driftfold.testing.checkpoint import Damage, check_checkpoint_store

WRITER = """
import sys
import numpy as np
from driftfold.checkpoint import DiskStore, Snapshot
from pathlib import Path

store, k = DiskStore(Path(sys.argv[1])), 0
while True:
    k += 1
    # 2 MB, so that a good share of the kills comes in the middle of a file
    store.save("run", Snapshot({"k": k}, {"x": np.full(250_000, float(k))}))
    print(k, flush=True)
"""


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("spoil", [flip_a_byte, cut_short, empty])
@pytest.mark.parametrize("by_url", [False, True])
def test_disk_store(tmp_path: Path, spoil: Callable[[Path], None], by_url: bool) -> None:
    folder = tmp_path / "a folder" / "of snapshots"

    def damage(run: str, name: str) -> None:
        spoil(folder / run / f"{name}.npz")

    def open_again() -> CheckpointStore:
        return open_store(folder.as_uri()) if by_url else DiskStore(folder)

    check_checkpoint_store(open_again, damage)


def test_memory_store() -> None:
    store = MemoryStore()
    check_checkpoint_store(lambda: store, damage_in(store))


def test_memory_store_by_url() -> None:
    store = open_store("memory://conformance")
    assert isinstance(store, MemoryStore)
    check_checkpoint_store(lambda: open_store("memory://conformance"), damage_in(store))


def damage_in(store: MemoryStore) -> Damage:
    def damage(run: str, name: str) -> None:
        store.files[run][name] = store.files[run][name][:-1]

    return damage


class Hasty(MemoryStore):
    """A store with a typical fault: a snapshot has its name before all its bytes are there."""

    def save(self, run: str, snapshot: Snapshot) -> str:
        name = super().save(run, snapshot)
        self.files[run][name] = self.files[run][name][:100]
        return name


class Sharing(MemoryStore):
    """A store with a typical fault: it forgets too much."""

    def forget(self, run: str) -> None:
        self.files.clear()


def test_a_faulty_store_is_found_out() -> None:
    hasty, sharing = Hasty(), Sharing()
    with pytest.raises(CheckpointError, match="damaged"):
        check_checkpoint_store(lambda: hasty, damage_in(hasty))
    with pytest.raises(AssertionError, match="no snapshot of run 'check-two'"):
        check_checkpoint_store(lambda: sharing, damage_in(sharing))


def kill_a_writer(folder: Path, moment: float) -> None:
    """Start a process that saves 1, 2, 3, ... and kill it `moment` seconds after the first."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        stdout=subprocess.PIPE,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert writer.stdout is not None
    first = writer.stdout.readline()
    time.sleep(moment)
    writer.send_signal(signal.SIGKILL)
    said = (first + writer.stdout.read()).split(b"\n")
    writer.stdout.close()
    assert writer.wait() == -signal.SIGKILL
    told = int(said[-2])  # the last line that is whole
    store = DiskStore(folder)
    found = store.latest("run")
    assert found is not None
    # What was reported as saved is there; what came after it may be, if it is whole.
    assert found.meta["k"] in (told, told + 1)
    assert (found.arrays["x"] == found.meta["k"]).all()
    assert len(store.names("run")) in (1, 2, 3)


@pytest.mark.parametrize("attempt", range(3))
def test_killed_while_writing(tmp_path: Path, attempt: int) -> None:
    kill_a_writer(tmp_path, random.Random(attempt).uniform(0.0, 0.2))


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(3, 40))
def test_killed_while_writing_many_times(tmp_path: Path, attempt: int) -> None:
    kill_a_writer(tmp_path, random.Random(attempt).uniform(0.0, 0.3))


def test_a_second_writer_goes_on_where_one_was_killed(tmp_path: Path) -> None:
    kill_a_writer(tmp_path, 0.05)
    before = DiskStore(tmp_path).names("run")
    kill_a_writer(tmp_path, 0.05)
    assert DiskStore(tmp_path).names("run")[-1] > before[-1]
    # What the first left half-written is gone; the second may have left one of its own.
    assert len(list((tmp_path / "run").glob("*.part"))) <= 1

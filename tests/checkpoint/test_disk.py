import resource
from pathlib import Path

import numpy as np
import pytest

from driftfold.checkpoint import DiskStore, MemoryStore, Snapshot
from driftfold.errors import CheckpointError


def snapshot(k: int, size: int = 3) -> Snapshot:
    return Snapshot({"k": k}, {"x": np.full(size, float(k))})


def test_only_the_last_two_are_kept(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    names = [store.save("run", snapshot(k)) for k in range(5)]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        f"{name}.npz" for name in names[-2:]
    ]


def test_numpy_opens_the_file(tmp_path: Path) -> None:
    name = DiskStore(tmp_path).save("run", snapshot(4))
    with np.load(tmp_path / "run" / f"{name}.npz", allow_pickle=False) as file:
        assert file["x"].tolist() == [4.0, 4.0, 4.0]


def test_disk_and_memory_hold_the_same_bytes(tmp_path: Path) -> None:
    disk, memory = DiskStore(tmp_path), MemoryStore()
    name = disk.save("run", snapshot(1))
    assert memory.save("run", snapshot(1)) == name
    assert (tmp_path / "run" / f"{name}.npz").read_bytes() == memory.files["run"][name]


def test_foreign_and_unfinished_files_are_passed_over(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.save("run", snapshot(1))
    (tmp_path / "run" / "notes.npz").write_bytes(b"mine")
    (tmp_path / "run" / "0123.part").write_bytes(b"half of a snap")
    found = store.latest("run")
    assert found is not None
    assert found.meta == {"k": 1}
    store.save("run", snapshot(2))
    assert (tmp_path / "run" / "notes.npz").exists()
    assert not (tmp_path / "run" / "0123.part").exists()


def test_a_damaged_snapshot_keeps_its_number(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    names = [store.save("run", snapshot(k)) for k in (1, 2)]
    (tmp_path / "run" / f"{names[1]}.npz").write_bytes(b"")
    third = store.save("run", snapshot(3))
    assert third > names[1]


def test_every_bit_is_under_the_checksum(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    path = tmp_path / "run" / f"{store.save('run', snapshot(1))}.npz"
    whole = path.read_bytes()
    for position in range(0, len(whole), 7):
        spoilt = bytearray(whole)
        spoilt[position] ^= 0x10
        path.write_bytes(spoilt)
        with pytest.raises(CheckpointError, match="damaged"):
            store.latest("run")


def test_a_full_disk_is_a_clear_error_and_harms_nothing(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.save("run", snapshot(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))  # the nearest to a disk that fills
    try:
        with pytest.raises(CheckpointError, match=r"cannot save a snapshot in .*free some space"):
            store.save("run", snapshot(2, size=100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(list((tmp_path / "run").iterdir())) == 1
    found = store.latest("run")
    assert found is not None
    assert found.meta == {"k": 1}


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    store = DiskStore(tmp_path / "taken")
    with pytest.raises(CheckpointError, match=r"taken.*give a folder"):
        store.save("run", snapshot(1))
    with pytest.raises(CheckpointError, match="taken"):
        store.latest("run")


def test_reading_makes_no_folder(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "not yet")
    assert store.latest("run") is None
    assert not (tmp_path / "not yet").exists()

"""Conformance of a checkpoint store."""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.errors import CheckpointError
from driftfold.testing.expect import expect

Open = Callable[[], CheckpointStore]
Damage = Callable[[str, str], None]


def check_checkpoint_store(open_again: Open, damage: Damage) -> None:
    """Raise `AssertionError` unless the store keeps the contract of `CheckpointStore`.

    `open_again` returns a new handle on one and the same store, which holds none of the runs
    "check-..."; `damage(run, name)` spoils the bytes of one snapshot in it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from driftfold.checkpoint import DiskStore
    >>> folder = Path(tempfile.mkdtemp())
    >>> def cut(run, name):
    ...     path = folder / run / f"{name}.npz"
    ...     _ = path.write_bytes(path.read_bytes()[:-1])
    >>> check_checkpoint_store(lambda: DiskStore(folder), cut)
    """
    check_nothing_saved(open_again())
    check_round_trip(open_again())
    check_copies(open_again())
    check_newest(open_again)
    check_runs_apart(open_again())
    check_names_of_runs(open_again())
    check_refusals(open_again())
    check_damage(open_again(), damage)


def check_nothing_saved(store: CheckpointStore) -> None:
    """Check that a run without snapshots has none, which is no error."""
    expect(store.latest("check-none") is None, "latest of an unknown run is not None")
    expect(list(store.names("check-none")) == [], "an unknown run has names of snapshots")
    store.forget("check-none")


def check_round_trip(store: CheckpointStore) -> None:
    """Check that facts and arrays come back bit for bit, with dtype and shape."""
    arrays: dict[str, Any] = {
        "vector": np.linspace(0.0, 1.0, 7),
        "single": np.ones((2, 0, 3), np.float32),
        "flags": np.array([True, False]),
        "whole": np.arange(6, dtype=np.int64).reshape(2, 3).T,
        "words": np.array([0, 2**64 - 1], np.uint64),
        "alone": np.array(2.5),
        "odd": np.array([np.nan, -np.nan, np.inf, -0.0]),
        "file": np.zeros(1),
        "a/path.npy": np.ones(1),
        "strided": np.arange(10)[::3],
    }
    meta = {"seq": 3, "log": [[1, None, True], {"gap": 0.1 + 0.2}], "text": "e\u0301 \U0001f642"}
    store.save("check-trip", Snapshot(meta, arrays))
    back = _latest(store, "check-trip")
    expect(back.meta == meta, f"saved the facts {meta}, got back {back.meta}")
    expect(set(back.arrays) == set(arrays), f"got back the arrays {sorted(back.arrays)}")
    for name, array in arrays.items():
        got = back.arrays[name]
        expect(
            got.dtype == array.dtype and got.shape == array.shape,
            f"array {name!r} was {array.dtype} {array.shape}, came back {got.dtype} {got.shape}",
        )
        expect(got.tobytes() == array.tobytes(), f"array {name!r} came back with other bits")


def check_copies(store: CheckpointStore) -> None:
    """Check that what is saved does not change with the arrays it was made from."""
    x, facts = np.zeros(3), {"log": [1]}
    store.save("check-copy", Snapshot(facts, {"x": x}))
    x += 1
    facts["log"].append(2)
    first = _latest(store, "check-copy")
    expect(first.meta == {"log": [1]}, "a saved snapshot's facts changed with the caller's")
    expect(not first.arrays["x"].any(), "a saved snapshot's array changed with the caller's")
    first.arrays["x"][:] = 7
    expect(not _latest(store, "check-copy").arrays["x"].any(), "a loaded array is shared")


def check_newest(open_again: Open) -> None:
    """Check that the newest snapshot wins, seen from any handle, with one in reserve."""
    names = [open_again().save("check-newest", _numbered(k)) for k in range(12)]
    store = open_again()
    expect(len(set(names)) == len(names), "two snapshots have one name")
    expect(_latest(store, "check-newest").meta["k"] == 11, "latest is not the newest snapshot")
    kept = list(store.names("check-newest"))
    expect(kept[-2:] == names[-2:], f"the last two of {names} are not the last two kept: {kept}")
    for name in kept[-2:]:
        k = store.load("check-newest", name).meta["k"]
        expect(names[k] == name, f"loading {name} gave the snapshot saved as {names[k]}")


def check_runs_apart(store: CheckpointStore) -> None:
    """Check that runs do not mix, and that `forget` removes one only."""
    first = store.save("check-one", _numbered(1))
    store.save("check-two", _numbered(2))
    expect(_latest(store, "check-one").meta["k"] == 1, "a run sees another run's snapshot")
    store.forget("check-one")
    expect(store.latest("check-one") is None, "a run that was forgotten has a snapshot")
    expect(_refused(lambda: store.load("check-one", first)), "a forgotten snapshot can be loaded")
    expect(_latest(store, "check-two").meta["k"] == 2, "forget removed another run's snapshot")


def check_names_of_runs(store: CheckpointStore) -> None:
    """Check that a run's name cannot lead out of the store."""
    for run in (
        "",
        ".",
        "..",
        "a/b",
        "../up",
        "/root",
        "a\\b",
        "a\0b",
        ".hidden",
        "a" * 201,
        "a\n",
    ):
        expect(_refused(lambda run=run: store.save(run, _numbered(1))), f"saved a run {run!r}")  # type: ignore[misc]
        expect(_refused(lambda run=run: store.latest(run)), f"looked for a run {run!r}")  # type: ignore[misc]
    for run in ("7", "a.b_c-D", "a" * 200):
        store.save(run, _numbered(5))
        expect(_latest(store, run).meta["k"] == 5, f"no snapshot of run {run!r} after saving one")
        store.forget(run)


def check_refusals(store: CheckpointStore) -> None:
    """Check that what cannot come back the same is refused, and leaves the last one whole."""
    store.save("check-refuse", _numbered(1))
    code = np.array([print, None], dtype=object)
    for bad in (
        Snapshot({}, {"x": code}),
        Snapshot({"log": {3: "a key that is no text"}}, {}),
        Snapshot({"log": (1, 2)}, {}),
        Snapshot({"log": np.zeros(2)}, {}),
    ):
        refused = _refused(lambda bad=bad: store.save("check-refuse", bad))  # type: ignore[misc]
        expect(refused, f"stored {bad}, which cannot come back the same without running code")
    expect(_latest(store, "check-refuse").meta["k"] == 1, "a refused snapshot replaced a good one")
    for name in ("", "1", "../check-refuse/1", "0" * 9 + "-" + "0" * 32):
        refused = _refused(lambda name=name: store.load("check-refuse", name))  # type: ignore[misc]
        expect(refused, f"loaded a snapshot {name!r} that was never saved")


def check_damage(store: CheckpointStore, damage: Damage) -> None:
    """Check that a damaged snapshot is passed over, and that only damage is an error."""
    older, newer = (store.save("check-damage", _numbered(k)) for k in (1, 2))
    damage("check-damage", newer)
    expect(_refused(lambda: store.load("check-damage", newer)), "loaded a damaged snapshot")
    expect(_latest(store, "check-damage").meta["k"] == 1, "did not pass over a damaged snapshot")
    damage("check-damage", older)
    expect(_refused(lambda: store.latest("check-damage")), "all are damaged, and no error says so")
    store.save("check-damage", _numbered(3))
    expect(
        _latest(store, "check-damage").meta["k"] == 3, "a new snapshot after damage is not found"
    )


def _numbered(k: int) -> Snapshot:
    return Snapshot({"k": k}, {"x": np.full(4, float(k))})


def _latest(store: CheckpointStore, run: str) -> Snapshot:
    found = store.latest(run)
    if found is None:
        raise AssertionError(f"no snapshot of run {run!r} after saving one")
    return found


def _refused(act: Callable[[], object]) -> bool:
    try:
        act()
    except CheckpointError:
        return True
    return False

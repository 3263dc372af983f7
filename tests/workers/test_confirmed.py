"""The snapshot that a job points to stays until the job points to a newer one."""

import threading
from pathlib import Path

from driftfold.checkpoint.base import Snapshot
from driftfold.checkpoint.disk import DiskStore
from driftfold_workers.artefacts.confirmed import Confirmation, ConfirmedStore


def test_a_snapshot_waits_until_the_one_before_it_is_known(tmp_path: Path) -> None:
    inner, confirmation = DiskStore(tmp_path), Confirmation()
    store = ConfirmedStore(inner, confirmation)
    first = store.save("a", Snapshot({"round": 1}, {}))
    assert not confirmation.known
    confirmation.confirm("another")
    assert not confirmation.known
    confirmation.confirm(first)
    assert confirmation.known
    second = store.save("a", Snapshot({"round": 2}, {}))  # not known to the job
    third: list[str] = []
    saving = threading.Thread(target=lambda: third.append(store.save("a", Snapshot({}, {}))))
    saving.start()
    saving.join(0.1)
    assert saving.is_alive()
    assert inner.names("a") == [first, second]
    confirmation.confirm(second)
    saving.join(10)
    assert inner.names("a") == [second, *third]

"""Every job store tells of a job whose records, computed again, are others."""

from collections.abc import Sequence

import pytest

from driftfold_workers.jobs.job import Claim
from driftfold_workers.jobs.store import JobStore
from tests.workers.jobs import claimed, running, told

pytestmark = pytest.mark.asyncio


def record(seq: int, loss: float, wall: float, note: str = "") -> bytes:
    """A line as `to_line` writes it."""
    told = f',"note":"{note}"' if note else ""
    return (
        f'{{"seq":{seq},"kind":"round","time":0.0,"version":{seq},"values":{{"loss":{loss}}},'
        f'"timing":{{"wall":{wall},"cpu":{wall}}}{told}}}'
    ).encode()


async def again(store: JobStore, records: Sequence[bytes], repeated: Sequence[bytes]) -> Claim:
    """One attempt writes records, the next one those from the second on once more."""
    claim = await running(store)
    await store.append(claim.job.id, claim.epoch, 1, records)
    await store.release(claim.job.id, claim.epoch, reason="x", counted=True, attempts=3)
    claim = await claimed(store, "bert")
    await store.append(claim.job.id, claim.epoch, 2, repeated)
    return claim


async def test_the_time_that_a_computation_takes_is_not_compared(store: JobStore) -> None:
    before = [record(seq, 0.1, 1e-3) for seq in range(1, 5)]
    claim = await again(store, before, [record(seq, 0.1, 7.25) for seq in range(2, 7)])
    assert (await store.get(claim.job.id)).diverged is None
    assert "diverged" not in await told(store, claim.job.id)


async def test_the_first_record_that_differs_is_told_once(store: JobStore) -> None:
    before = [record(seq, 0.1, 1.0) for seq in range(1, 6)]
    claim = await again(
        store, before, [record(2, 0.1, 1.0), record(3, 0.1, 1.0), record(4, 0.1 + 1e-16, 1.0)]
    )
    job, epoch = claim.job.id, claim.epoch
    assert (await store.get(job)).diverged == 4
    await store.append(job, epoch, 5, [record(5, 0.3, 1.0), record(6, 0.3, 1.0)])
    there = await store.get(job)
    assert (there.diverged, there.seq) == (4, 6)  # it goes on
    assert await store.read(job, limit=5) == before  # and what was told stays
    (event,) = [event for event in await store.events(job) if event.kind == "diverged"]
    assert event.facts == {"record": 4, "attempt": 2, "epoch": epoch, "worker": "bert", "seq": 5}


@pytest.mark.parametrize("other", ["a note", '"timing":{} in words'])
async def test_notes_are_compared(store: JobStore, other: str) -> None:
    before = [record(seq, 0.1, 1.0) for seq in range(1, 4)]
    note = other.replace('"', '\\"')
    claim = await again(store, before, [record(2, 0.1, 1.0), record(3, 0.1, 1.0, note)])
    assert (await store.get(claim.job.id)).diverged == 3

"""Batches are contiguous, end where a snapshot is valid, and hold back whoever fills too fast."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold_workers.attempts.frames import FrameError
from driftfold_workers.attempts.messages import Recorded, Saved
from driftfold_workers.attempts.outbox import BATCH, ROOM, Batch, Outbox


async def drained(outbox: Outbox) -> list[Batch]:
    batches = []
    while (batch := await outbox.batch()) is not None:
        batches.append(batch)
    return batches


def record(seq: int, size: int = 10) -> Recorded:
    return Recorded(seq, seq // 2, b"%-*d" % (size, seq))


@given(
    first=st.integers(1, 50),
    steps=st.lists(st.sampled_from(["record", "large", "snapshot", "take"]), max_size=60),
)
def test_every_record_is_in_one_batch_and_every_snapshot_at_its_place(
    first: int, steps: list[str]
) -> None:
    async def scenario() -> None:
        outbox, seq, saved, batches = Outbox(), first - 1, [], []
        outbox.lift_limit()
        for number, step in enumerate(steps):
            if step == "snapshot":
                saved.append(Saved(f"s{number}", seq))
                await outbox.put(saved[-1])
            elif step != "take":
                seq += 1
                await outbox.put(record(seq, BATCH[1] // 3 if step == "large" else 10))
            else:
                pending = asyncio.ensure_future(outbox.batch())
                await asyncio.sleep(0)
                if pending.done():
                    batches.append(pending.result())
                else:
                    pending.cancel()
        outbox.close()
        batches += await drained(outbox)
        after = first
        told = []
        for batch in batches:
            assert batch is not None
            if batch.lines:
                assert batch.first == after
                assert [int(line.split()[0]) for line in batch.lines] == list(
                    range(after, after + len(batch.lines))
                )
                assert batch.rounds == (after + len(batch.lines) - 1) // 2
                after += len(batch.lines)
            else:
                assert batch.first == after
                assert batch.checkpoint is not None
            if batch.checkpoint is not None:
                told.append(Saved(batch.checkpoint, after - 1))
        assert after - 1 == seq
        assert told == saved

    asyncio.run(scenario())


@pytest.mark.asyncio
async def test_batches_are_bounded() -> None:
    outbox = Outbox()
    outbox.lift_limit()
    for seq in range(1, 1201):
        await outbox.put(record(seq))
    outbox.close()
    assert [len(batch.lines) for batch in await drained(outbox)] == [500, 500, 200]


@pytest.mark.asyncio
async def test_whoever_fills_a_full_outbox_waits_for_room() -> None:
    outbox = Outbox()
    for seq in range(1, ROOM[0] + 1):
        await outbox.put(record(seq))
    waiting = asyncio.create_task(outbox.put(record(ROOM[0] + 1)))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await outbox.batch()
    await asyncio.wait_for(waiting, 10)


@pytest.mark.asyncio
async def test_a_gap_is_noticed_where_it_arises() -> None:
    outbox = Outbox()
    await outbox.put(record(1))
    with pytest.raises(FrameError, match="record 3 came after record 1"):
        await outbox.put(record(3))

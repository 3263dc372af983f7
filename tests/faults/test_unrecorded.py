"""A process is gone before the log has what it did: the next one goes on from what the log has."""

import asyncio
from itertools import takewhile
from pathlib import Path

import pytest

from driftfold_workers.artefacts.runs import Runs, attempt_name
from driftfold_workers.attempts.messages import Message, Recorded, Saved
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.children import child
from tests.workers.experiments import experiment, told, undisturbed
from tests.workers.jobs import KINDS
from tests.workers.stories import log_of

SPEC_ROUNDS, EVERY = 20, 5


async def take_down(store: RedisJobStore, job: str, epoch: int, heard: list[Message]) -> None:
    """What a supervisor does with what a process tells, one message at a time."""
    for message in heard:
        if isinstance(message, Recorded):
            await store.append(job, epoch, message.seq, [message.line], rounds=message.version)
        elif isinstance(message, Saved):
            pointer = f"{attempt_name(job, epoch)}:{message.name}"
            await store.append(job, epoch, message.seq + 1, [], checkpoint=pointer)


def before_snapshot(heard: list[Message], number: int) -> list[Message]:
    """What was heard before the news of a snapshot: itself, it is on the disk already."""
    saved = [message for message in heard if isinstance(message, Saved)]
    return list(takewhile(lambda message: message is not saved[number], heard))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("snapshot", "lost"),
    [(1, 3), *(pytest.param(*case, marks=pytest.mark.slow) for case in [(0, 0), (0, 3), (1, 0)])],
)
async def test_it_goes_on_from_the_log(
    store: RedisJobStore, tmp_path: Path, snapshot: int, lost: int
) -> None:
    spec = experiment(SPEC_ROUNDS, checkpoint_every=EVERY)
    job = (await store.submit(spec, KINDS)).id
    first = await store.claim("anne", KINDS, 100.0)
    assert first is not None
    with child() as process:
        process.order(job, spec, tmp_path)
        while len(process.saved) <= snapshot:
            assert process.hear()
        process.process.kill()
        heard = before_snapshot(process.heard, snapshot)
    assert len(Runs.at(tmp_path).checkpoints(job).names(attempt_name(job, 1))) > snapshot
    await take_down(store, job, first.epoch, heard[: len(heard) - lost])
    reached = (await store.get(job)).seq

    await store.release(job, first.epoch, reason="killed", counted=True, attempts=9)
    second = await store.claim("bert", KINDS, 100.0)
    assert second is not None
    assert (second.job.checkpoint is None) is (snapshot == 0)
    with child() as process:
        process.order(job, spec, tmp_path, epoch=2, checkpoint=second.job.checkpoint)
        process.hear_all()
    again = [message for message in process.heard if isinstance(message, Recorded)]
    assert again[0].seq <= reached + 1  # never a gap
    await take_down(store, job, second.epoch, process.heard)
    _, records = await asyncio.to_thread(undisturbed, spec)
    assert told(await log_of(store, job)) == records

"""What the job store counts: each thing once, whoever repeats it, and never less than before."""

import pytest

from driftfold_workers.jobs.census import Census, counts_of
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import Fenced
from driftfold_workers.redis_store import RedisJobStore

pytestmark = pytest.mark.asyncio

NEEDS = ["task:pca"]


def record(seq: int, dropped: int = 0) -> bytes:
    values = b'"dropped":%d,"note \\"dropped\\":5":0' % dropped
    return b'{"seq":%d,"kind":"round","time":%d.5,"version":%d,"values":{%b}}' % (
        *(seq, 10 * seq, seq),
        values,
    )


def of(census: Census, *names: str) -> dict[str, float]:
    return {name: census.counts[name] for name in names}


async def test_rounds_records_time_and_lost_clients_are_counted_once(store: RedisJobStore) -> None:
    job = (await store.submit({}, NEEDS)).id
    assert (await store.claim("anne", NEEDS, 60.0)) is not None
    await store.append(job, 1, 1, [record(1), record(2, 3)], rounds=2)
    await store.append(job, 1, 2, [record(2, 3), record(3, 4)], rounds=3)  # 2 is sent again
    await store.append(job, 1, 2, [record(2, 3)], rounds=2)
    census = await store.census()
    assert of(census, "records", "rounds", "virtual", "dropped") == {
        "records": 3,
        "rounds": 3,
        "virtual": 30.5,
        "dropped": 7,
    }
    assert census.unrecorded == 1


async def test_what_became_of_attempts_is_counted(store: RedisJobStore) -> None:
    job = (await store.submit({}, NEEDS)).id
    said = {"reason": "", "attempts": 2}
    await store.claim("anne", NEEDS, 60.0)
    await store.release(job, 1, counted=False, outcome="drained", **said)  # type: ignore[arg-type]
    await store.claim("anne", NEEDS, 60.0)
    died = "child died (signal 9)"
    await store.release(job, 2, counted=True, outcome=died, **said)  # type: ignore[arg-type]
    with pytest.raises(Fenced):
        await store.append(job, 2, 1, [record(1)])
    assert await store.heartbeat(job, 2, 60.0) == "lost"  # no write
    await store.claim("anne", NEEDS, 60.0)
    await store.release(job, 3, counted=True, outcome=died, **said)  # type: ignore[arg-type]
    assert (await store.get(job)).state is State.FAILED
    census = await store.census()
    assert counts_of(census.counts, "outcome") == {"drained": 1, "child died": 2}
    events = counts_of(census.counts, "event")
    assert events == {"submitted": 1, "claimed": 3, "released": 3, "failed": 1}
    assert of(census, "retried", "fenced", "expired") == {"retried": 1, "fenced": 1, "expired": 0}
    assert census.jobs[State.FAILED] == 1


async def test_a_lease_that_was_over_is_counted_once(store: RedisJobStore) -> None:
    await store.submit({}, NEEDS)
    await store.claim("anne", NEEDS, 0.001)
    while not await store.reap(5):
        pass
    await store.reap(5)
    counts = (await store.census()).counts
    assert counts["expired"] == counts["outcome:lease lost"] == counts["retried"] == 1


async def test_the_census_tells_who_is_there_and_what_waits(store: RedisJobStore) -> None:
    empty = await store.census()
    assert (empty.workers, empty.slots, empty.running, empty.recorder) == (0, 0, 0, "")
    assert not any(empty.counts.values())
    await store.announce("anne", NEEDS, 2, 60.0)
    await store.announce("bert", NEEDS, 3, 60.0)
    await store.announce("bert", NEEDS, 3, 0.0)
    for _ in range(3):
        await store.submit({}, NEEDS)
    await store.claim("anne", NEEDS, 60.0)
    await store.window.lead("api", 60.0)
    census = await store.census()
    assert (census.workers, census.slots, census.running) == (1, 2, 1)
    assert census.jobs[State.QUEUED] == sum(line.depth for line in census.lines.values()) == 2
    assert max(line.oldest for line in census.lines.values()) < 60
    assert census.recorder == "api"


async def test_counts_stay_when_their_jobs_are_deleted(store: RedisJobStore) -> None:
    job = (await store.submit({}, NEEDS)).id
    await store.cancel(job)
    await store.delete(job)
    assert (await store.census()).counts["event:canceled"] == 1

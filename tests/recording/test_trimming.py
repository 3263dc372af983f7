"""What is recorded is trimmed, records and lifecycle events: users are told all from both."""

import pytest

from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.archived_store import ArchivedStore
from driftfold_api.attempts import attempts_of
from driftfold_api.models import Lifecycle
from driftfold_api.recording.recorder import Recorder
from driftfold_workers.jobs.store import Trimmed
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.window.window import RedisWindow
from tests.recording.stories import running
from tests.workers.jobs import claimed, lines, numbers

pytestmark = pytest.mark.asyncio


async def test_the_log_of_a_job_that_runs_stays_short(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    window, fence = RedisWindow(store._link, margin=2, events_margin=3), await archive.lead()
    recorder, users = Recorder(window, archive), ArchivedStore(store, archive)
    claim = await running(store, archive)
    job = claim.job.id
    for attempt in range(3):
        for seq in range(4 * attempt + 1, 4 * attempt + 5):
            await store.append(job, claim.epoch, seq, lines(seq, seq), checkpoint=f"1:{seq}")
        while await recorder.step(fence):
            pass
        reason = f"try {attempt}"
        await store.release(job, claim.epoch, reason=reason, counted=True, attempts=9)
        claim = await claimed(store, "bert")  # what follows the last step is not recorded
    kept = [event.number for event in await store.events(job, after=15)]
    assert kept == [16, 17, 18, 19, 20]  # two of them are not recorded yet
    for after in (0, 14):
        with pytest.raises(Trimmed, match=f"lifecycle event {after + 1} of job {job}"):
            await store.events(job, after=after)
        with pytest.raises(Trimmed):
            await store.news(job, after=12, events_after=after)
    assert numbers(await users.read(job)) == [*range(1, 13)]
    events = [*await users.events(job)]
    assert [event.number for event in events] == [*range(1, 19)]  # as far as they are recorded
    events += await users.events(job, after=18)
    assert [event.number for event in events] == [*range(1, 21)]
    told = await users.attempts(job)
    assert told == attempts_of(map(Lifecycle.of, events))
    assert [(each.worker, each.outcome, each.last) for each in told] == [
        ("anne", "released", 4),
        ("bert", "released", 8),
        ("bert", "released", 12),
        ("bert", "running", None),
    ]

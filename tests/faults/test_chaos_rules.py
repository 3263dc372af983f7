"""The rules of a campaign: each is broken by hand, in the archive, in Redis, on disk."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from driftfold.spec import from_mapping
from driftfold_api.archive.base import Wanted
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.recording.recorder import Recorder
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.needs import needs_of
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.faults.chaos.evidence import Evidence, gather
from tests.faults.chaos.orders import MODES, Order, expected
from tests.faults.chaos.rules import RULES, Case, broken
from tests.workers import servers
from tests.workers.experiments import experiment

PREFIX = "t"
ROUNDS = 6


class Told:
    """What two jobs have left, for rules to look at: the first was given back once."""

    def __init__(self, server: EmbeddedServer, folder: Path) -> None:
        self.url, self.runs = server.url, folder / "runs"
        self.archive = folder / "archive.sqlite"
        self.orders = [
            Order(f"k{seed}", experiment(ROUNDS, seed=seed, **MODES[1]), {}, watched=True)
            for seed in (1, 2)
        ]
        self.jobs: list[str] = []
        self.canceled: frozenset[str] = frozenset()

    async def happen(self) -> None:
        opened = SqlArchive.open(f"sqlite:///{self.archive}")
        async with opened as archive, RedisJobStore.open(self.url, prefix=PREFIX) as store:
            for order in self.orders:
                await self._run(store, archive, order)
            recorder, fence = Recorder(store.window, archive), await archive.lead()
            while await recorder.step(fence):
                pass

    async def _run(self, store: RedisJobStore, archive: SqlArchive, order: Order) -> None:
        result, records = await asyncio.to_thread(expected, order)
        lines = [json.dumps(record).encode() for record in records]
        needs = needs_of(from_mapping(order.spec))
        wanted = Wanted(order.spec, needs, order.key, order.rounds)
        job = (await archive.accept(wanted, key=order.key))[0]
        await store.enqueue(job)
        self.jobs.append(job.id)
        for epoch in (1, 2):
            claim = await store.claim("anne", needs, 60.0)
            assert claim is not None
            if epoch == 1:
                await store.append(job.id, epoch, 1, lines[:3], checkpoint="1:a", rounds=3)
                told: dict[str, Any] = {"reason": "killed", "outcome": "child died (signal 9)"}
                await store.release(job.id, epoch, counted=True, attempts=9, **told)
        await store.append(job.id, 2, 4, lines[3:], rounds=ROUNDS)
        folder = self.runs / job.id
        folder.mkdir(parents=True)
        (folder / "result.json").write_text(json.dumps(result))
        for name in ("config.json", "rounds.parquet", "model.npz"):
            (folder / name).touch()
        await store.finish(job.id, 2, State.SUCCEEDED, result=result, outcome="finished")

    # -- breaking it --------------------------------------------------------------------------

    def sql(self, statement: str) -> None:
        with closing(sqlite3.connect(self.archive, isolation_level=None)) as connection:
            assert connection.execute(statement, {"job": self.jobs[0]}).rowcount

    def redis(self, *words: str | int) -> None:
        said = [str(word).replace("JOB", self.jobs[0]) for word in words]
        said[1] = f"{{{PREFIX}}}:{said[1]}"
        with Redis.from_url(self.url) as redis:
            assert redis.execute_command(*said) is not None

    def file(self, name: str, text: str = "") -> None:
        path = self.runs / name.replace("JOB", self.jobs[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def evidence(self) -> Evidence:
        return gather(self.archive, self.url, PREFIX, self.runs)

    def case(self) -> Case:
        accepted = {order.key: job for order, job in zip(self.orders, self.jobs, strict=True)}
        seen = {order.key: expected(order)[1] for order in self.orders}
        return Case(self.orders, self.evidence(), accepted, self.canceled, seen)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Told, bytes, Path]]:
    """What happened, a dump of the archive and one of Redis to go back to."""
    folder = tmp_path_factory.mktemp("told")
    with servers.running() as server:
        told = Told(server, folder)
        asyncio.run(told.happen())
        with closing(sqlite3.connect(told.archive)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        yield told, told.archive.read_bytes(), folder


@pytest.fixture
def told(story: tuple[Told, bytes, Path]) -> Iterator[Told]:
    told, archive, _ = story
    with Redis.from_url(told.url) as redis:
        kept = {key: redis.dump(key) for key in list(redis.scan_iter())}
        files = {path: path.read_bytes() for path in told.runs.rglob("*") if path.is_file()}
        yield told
        redis.flushall()
        for key, text in kept.items():
            redis.restore(key, 0, text)
    told.archive.write_bytes(archive)
    told.canceled = frozenset()
    shutil.rmtree(told.runs)
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_what_went_well_breaks_no_rule(told: Told) -> None:
    assert broken(told.case()) == {}


OF_JOB = "WHERE job = :job AND"
RECORD = f"FROM records {OF_JOB} seq = 4"
EVENT = "UPDATE lifecycle SET"
BREAKS: dict[str, list[Callable[[Told], None]]] = {
    "every order is one job": [
        lambda told: told.sql("DELETE FROM jobs WHERE id = :job"),
        lambda told: told.sql("UPDATE jobs SET name = 'k2' WHERE id = :job"),
        lambda told: told.sql("UPDATE jobs SET name = 'nobody''s' WHERE id = :job"),
        lambda told: told.sql("UPDATE idempotency SET job = :job"),
        lambda told: told.sql("DELETE FROM idempotency WHERE job = :job"),
        lambda told: told.jobs.reverse(),
    ],
    "every job ends as it should": [
        lambda told: told.sql("UPDATE jobs SET state = 'failed' WHERE id = :job"),
        lambda told: told.sql("UPDATE jobs SET state = 'canceled' WHERE id = :job"),
        lambda told: told.sql("UPDATE jobs SET state = 'running' WHERE id = :job"),
    ],
    "the log has no gap": [
        lambda told: told.sql(f"DELETE {RECORD}"),
        lambda told: told.sql("UPDATE records SET seq = 99 WHERE job = :job AND seq = 4"),
        lambda told: told.sql(
            "INSERT INTO records SELECT job, 100, record FROM records WHERE job = :job AND seq = 4"
        ),
        lambda told: told.sql("UPDATE jobs SET seq = seq + 1 WHERE id = :job"),
    ],
    "the numbers are undisturbed": [
        lambda told: told.sql(
            "UPDATE records SET record = replace(record, '0.', '1.') WHERE job = :job AND seq = 4"
        ),
        lambda told: told.sql(
            "UPDATE jobs SET result = replace(result, '0.', '1.') WHERE id = :job"
        ),
        lambda told: told.sql("UPDATE jobs SET rounds = rounds - 1 WHERE id = :job"),
    ],
    "lifecycles are lives": [
        lambda told: told.sql("DELETE FROM lifecycle WHERE job = :job AND kind = 'released'"),
        lambda told: told.sql(f"{EVENT} kind = 'failed' {OF_JOB} kind = 'released'"),
        lambda told: told.sql(f"{EVENT} kind = 'claimed' {OF_JOB} kind = 'resumed'"),
        lambda told: told.sql(f"{EVENT} kind = 'paused' {OF_JOB} kind = 'checkpoint'"),
        lambda told: told.sql(f"{EVENT} kind = 'paused' {OF_JOB} kind = 'released'"),
        lambda told: told.sql(f"{EVENT} kind = 'unpaused' {OF_JOB} kind = 'submitted'"),
        lambda told: told.sql(f"{EVENT} kind = 'odd' {OF_JOB} kind = 'checkpoint'"),
        lambda told: told.sql(f"{EVENT} kind = 'lost' {OF_JOB} kind = 'succeeded'"),
        lambda told: told.sql(f"{EVENT} kind = 'claimed' {OF_JOB} kind = 'submitted'"),
        lambda told: told.sql(f"{EVENT} time = 0 {OF_JOB} kind = 'succeeded'"),
        lambda told: told.sql(
            f"{EVENT} facts = replace(facts, '\"epoch\":2', '\"epoch\":1') {OF_JOB} "
            "kind = 'resumed'"
        ),
        lambda told: told.sql(
            f"{EVENT} facts = replace(facts, '\"attempt\":2', '\"attempt\":7') {OF_JOB} "
            "kind = 'resumed'"
        ),
        lambda told: told.sql(
            f"{EVENT} facts = replace(facts, '\"seq\":3', '\"seq\":99') {OF_JOB} kind = 'released'"
        ),
    ],
    "rows agree with lifecycles": [
        lambda told: told.sql("UPDATE jobs SET events = 2 WHERE id = :job"),
        lambda told: told.sql("UPDATE jobs SET finished = NULL WHERE id = :job"),
        lambda told: told.sql("UPDATE jobs SET epoch = 3 WHERE id = :job"),
        lambda told: told.sql("DELETE FROM attempts WHERE job = :job AND epoch = 1"),
        lambda told: told.sql("UPDATE attempts SET ended = NULL WHERE job = :job AND epoch = 1"),
        lambda told: told.sql("UPDATE attempts SET outcome = '' WHERE job = :job AND epoch = 1"),
    ],
    "the job store agrees": [
        lambda told: told.redis("HSET", "job:JOB", "state", "running"),
        lambda told: told.redis("HSET", "job:JOB", "seq", 4),
        lambda told: told.redis("XDEL", "m:JOB", "4-0"),
        lambda told: told.redis("XADD", "m:JOB", "99-0", "record", "{}"),
        lambda told: told.redis("XADD", "ev:JOB", "99-0", "kind", "lost"),
    ],
    "nothing is left to do": [
        lambda told: told.redis("ZADD", "q:lease", 1, "JOB"),
        lambda told: told.redis("ZADD", "q:ready", 1, "JOB"),
        lambda told: told.redis("ZADD", "q:delayed", 1, "JOB"),
        lambda told: told.redis("HSET", "q:needs", "JOB", "[]"),
        lambda told: told.redis("SADD", "a:unrecorded", "JOB"),
        lambda told: told.redis("ZADD", "jobs:failed", 1, "JOB"),
        lambda told: told.redis("ZREM", "jobs:succeeded", "JOB"),
        lambda told: told.redis("ZREM", "jobs", "JOB"),
    ],
    "nothing is orphaned": [
        lambda told: told.redis("HSET", "job:nobody", "state", "queued"),
        lambda told: told.redis("DEL", "job:JOB"),
        lambda told: told.file("JOB/.result.json.0123.part"),
        lambda told: told.file("JOB/checkpoints/JOB.1/000000001-a.npz"),
        lambda told: told.file("JOB/checkpoints/JOB.1/0123.part"),
    ],
    "results are whole": [
        lambda told: told.file("JOB/result.json", "{}"),
        lambda told: (told.runs / told.jobs[0] / "model.npz").unlink(),
    ],
    "readers missed nothing": [lambda told: told.sql(f"DELETE {RECORD}")],
}


def test_every_rule_is_broken_by_something() -> None:
    assert set(BREAKS) == {rule.__name__.replace("_", " ") for rule in RULES}


@pytest.mark.parametrize(
    ("rule", "number"),
    [(rule, number) for rule, breaks in BREAKS.items() for number in range(len(breaks))],
)
def test_what_is_broken_is_told(told: Told, rule: str, number: int) -> None:
    before = list(told.jobs)
    try:
        BREAKS[rule][number](told)
        assert rule in broken(told.case())
    finally:
        told.jobs = before


def test_a_process_that_is_left_is_told(told: Told) -> None:
    case = told.case()
    case.evidence.processes.append("12: driftfold-job")
    assert list(broken(case)) == ["nothing is orphaned"]

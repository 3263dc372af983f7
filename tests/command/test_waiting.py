"""Commands that have to wait say what for: for the service, its job store, or a worker."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from threading import Thread
from typing import Any, TypeVar

import pytest

from driftfold_api import reaching, serving, watching
from driftfold_api.client import patience
from driftfold_api.models import Lifecycle
from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, claimed, finish, lines, write
from tests.command.cli import QUICK, call
from tests.workers import servers
from tests.workers.jobs import until

T = TypeVar("T")

NOBODY = "http://127.0.0.1:1"


class Background:
    """An API without workers, in an event loop of another thread."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)
        self._thread.start()
        self._opened = RedisJobStore.open(url)
        self.store = self.do(self._opened.__aenter__())
        self.api = self.do(Api(self.store).start())

    def begin(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.begin(work).result(60)

    def close(self) -> None:
        self.do(self.api.stop())
        self.do(self._opened.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def followed(self) -> None:
        """Wait until somebody watches a job."""

        async def somebody() -> bool:
            return bool(self.api.service.feeds.followed)

        await until(somebody)

    async def told(self) -> None:
        """Wait until who watches a queued job is told what it waits for."""

        async def somebody() -> bool:
            return any(feed.waiting for feed in self.api.service.feeds._feeds.values())

        await until(somebody)


@pytest.fixture(scope="module")
def service() -> Iterator[Background]:
    with servers.running() as server:
        service = Background(server.url)
        yield service
        service.close()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes a second or more takes a moment here."""
    monkeypatch.setattr(patience, "TELL_AFTER", 0.05)
    monkeypatch.setattr(reaching, "PATIENCE", 0.3)
    monkeypatch.setattr(serving, "STORE_WITHIN", 0.1)


def submit(service: Background, capsys: pytest.CaptureFixture[str]) -> str:
    assert call("submit", "pca-synthetic", *QUICK, "--url", service.api.url) == 0
    return capsys.readouterr().out.split()[0]


def test_a_service_that_is_not_there_is_given_up(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["list"], ["watch", "01900000-0000-7000-8000-000000000000"]):
        assert call(*command, "--url", NOBODY) == 1
        waiting, error = capsys.readouterr().err.splitlines()
        assert waiting.startswith(f"waiting for {NOBODY} (")
        assert error.startswith(f"error: no answer from {NOBODY} for ")
        assert "driftfold serve" in error


def test_an_address_that_is_none_of_a_job_store_is_told_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "queue://:secret@127.0.0.1:1/0")
    assert call("serve", "--port", "0") == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: 'queue://127.0.0.1:1/0' is no address of a job store: ")
    assert err.endswith("; correct REDIS_URL\n")


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [([], "no worker is there"), (["task:pca"], "no worker has algorithm:rfedags, ")],
)
def test_a_watch_says_what_a_queued_job_waits_for(
    service: Background, capsys: pytest.CaptureFixture[str], kinds: list[str], reason: str
) -> None:
    job = submit(service, capsys)

    async def come_and_go() -> None:
        await service.told()
        await service.store.cancel(job)
        await service.store.announce("anne", [], 1, 0.0)

    if kinds:
        service.do(service.store.announce("anne", kinds, 1, 60.0))
    done = service.begin(come_and_go())
    assert call("watch", job, "--url", service.api.url) == 1
    done.result(60)
    assert f"job {job} waits: {reason}" in capsys.readouterr().err


def test_a_watch_tells_takeovers_and_their_reasons(
    service: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    job = submit(service, capsys)

    async def life(store: RedisJobStore) -> None:
        how: dict[str, Any] = {"reason": "killed", "outcome": "child died (signal 9)"}
        await store.release(job, await claimed(store, job), counted=True, attempts=9, **how)
        epoch = await claimed(store, job)
        await store.append(job, epoch, 1, lines(1, 3), checkpoint="c", rounds=3)
        drained: dict[str, Any] = {"reason": "its worker stopped", "outcome": "drained"}
        await store.release(job, epoch, counted=False, attempts=9, **drained)
        epoch = await claimed(store, job)
        await store.cancel(job)
        await store.finish(job, epoch, State.CANCELED, outcome="canceled")

    service.do(life(service.store))
    assert call("watch", job, "--url", service.api.url) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if "round" not in line[:5]]
    assert told == [
        "attempt 1 by worker anne ended after record 0: child died (signal 9): killed",
        "worker anne goes on from the beginning: attempt 2",
        "attempt 2 by worker anne ended after record 3: drained: its worker stopped",
        "worker anne goes on from the last snapshot: attempt 2",
        "asked to cancel: it stops at the end of the round",
    ]


def test_another_worker_takes_over() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    event = Lifecycle(number=5, kind="resumed", time=now, facts={"worker": "bea", "attempt": 2})
    assert (
        watching._sentence(event, "anne")
        == "worker bea takes over from the last snapshot: attempt 2"
    )


def test_a_pause_is_told_with_the_end_of_the_attempt() -> None:
    facts = {"attempt": 2, "worker": "anne", "seq": 7, "outcome": "failed", "reason": "no room"}
    now = datetime(2026, 1, 1, tzinfo=UTC)
    event = Lifecycle(number=5, kind="released", time=now, facts={**facts, "retry": 0.5})
    assert watching._sentence(event) == (
        "attempt 2 by worker anne ended after record 7: failed: no room; retry in 0.5 s"
    )


def test_a_watch_waits_for_a_service_that_was_there(
    service: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    job = submit(service, capsys)
    epoch = service.do(claimed(service.store, job))

    async def go_and_come() -> None:
        await service.followed()
        await service.api.stop()
        await write(service.store, job, epoch, lines(1, 6), 1)
        await asyncio.sleep(2 * reaching.PATIENCE)
        await service.api.start()
        await finish(service.store, job, epoch, result={"rounds": 6})

    done = service.begin(go_and_come())
    code = call("watch", job, "--url", service.api.url, "--json")
    done.result(60)
    out, err = capsys.readouterr()
    assert code == 0, err
    assert len(out.splitlines()) == 7
    told = err.splitlines()
    (gone,) = (at for at, line in enumerate(told) if line.endswith("; trying until it answers"))
    assert told[gone].startswith(f"waiting for {service.api.url} (")
    assert told[gone + 1] == f"{service.api.url} answers again"

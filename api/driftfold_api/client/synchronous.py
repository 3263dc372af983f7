"""The client for programs that wait for their answers."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from driftfold.spec import JobSpec
from driftfold_api.client import calls, group_calls
from driftfold_api.client.calls import Call, Log, Start
from driftfold_api.client.events import Event, Frame, Frames, Position, Positions
from driftfold_api.client.patience import (
    TELL_AFTER,
    TRANSIENT,
    Patience,
    stream_timeout,
    worth_another_try,
)
from driftfold_api.group_models import ChildPage, GroupDetail, GroupPage
from driftfold_api.models import (
    Artefact,
    Attempt,
    JobDetail,
    JobPage,
    JobView,
    Lifecycle,
    Preset,
    Reset,
    Worker,
)
from driftfold_api.repeat_models import Replay
from driftfold_api.terms import TermsGiven
from driftfold_workers.jobs.job import State

T = TypeVar("T")


class Client:
    """Talks to a driftfold service. Close it, or use it in a with statement.

    Parameters
    ----------
    url
        Address of the service.
    timeout
        Seconds that one answer may take.
    patience
        Seconds to keep trying while nobody answers, for requests as for streams.
    tell
        Is given a sentence when the wait for an answer becomes long, and when it is over.

    Every method raises `Refused` when the service says no, and `Unreachable` when patience ends.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self._timeout = timeout
        self._patience = patience
        self._tell = tell
        self._http = httpx.Client(base_url=self.url, trust_env=False)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def submit(
        self,
        spec: JobSpec | Mapping[str, Any] | str | Path,
        *,
        name: str | None = None,
        idempotency_key: str | None = None,
        **terms: Unpack[TermsGiven],
    ) -> JobDetail:
        """Submit an experiment: an object, a table, a file, or the name of a preset.

        Further keywords are its terms: `priority`, `not_before` or `delay_seconds`, `attempts`,
        `limits`, `after`. The request is repeated while nobody answers, and makes one job all the
        same.
        """
        return self._send(calls.submit(spec, name, idempotency_key, terms))

    def get(self, job: str) -> JobDetail:
        """Return a job."""
        return self._send(calls.get(job))

    def page(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        state: State | None = None,
        dead: bool = False,
    ) -> JobPage:
        """Return part of the list of jobs, newest first."""
        return self._send(calls.page(limit, cursor, state, dead))

    def list(self, *, state: State | None = None, dead: bool = False) -> Iterator[JobView]:
        """Yield all jobs, newest first."""
        cursor: str | None = None
        while True:
            page = self.page(limit=200, cursor=cursor, state=state, dead=dead)
            yield from page.jobs
            if (cursor := page.cursor) is None:
                return

    def cancel(self, job: str) -> JobDetail:
        """Cancel a job: one that waits at once, a running one at the end of its round."""
        return self._send(calls.move(job, "cancel"))

    def pause(self, job: str) -> JobDetail:
        """Pause a job: a queued one at once, a running one at the end of its round."""
        return self._send(calls.move(job, "pause"))

    def resume(self, job: str) -> JobDetail:
        """Put a paused job in its place in the queue again; it goes on where it was."""
        return self._send(calls.move(job, "resume"))

    def retry(
        self, job: str, *, start: Start = "checkpoint", idempotency_key: str | None = None
    ) -> JobDetail:
        """Try again what has failed or was canceled: a new job, from the last snapshot or anew."""
        return self._send(calls.retry(job, start, idempotency_key))

    def clone(
        self,
        job: str,
        spec: Mapping[str, Any] = {},
        *,
        name: str | None = None,
        idempotency_key: str | None = None,
        **terms: Unpack[TermsGiven],
    ) -> JobDetail:
        """Run a job once more from the start, with `spec` laid over its specification."""
        return self._send(calls.clone(job, spec, name, idempotency_key, terms))

    def replay(
        self,
        jobs: Sequence[str] | None = None,
        *,
        before: datetime | None = None,
        start: Start = "checkpoint",
    ) -> Replay:
        """Try dead jobs again: some, or those that ended before a time; each once."""
        return self._send(calls.replay(jobs, before, start))

    def sweep(
        self,
        spec: JobSpec | Mapping[str, Any] | str | Path,
        points: Mapping[str, Any],
        *,
        stop: Mapping[str, Any] | None = None,
        name: str | None = None,
        idempotency_key: str | None = None,
        **terms: Unpack[TermsGiven],
    ) -> GroupDetail:
        """Run an experiment at many points, as a group of jobs: all of them or none.

        `points` is a sweep, as {"grid": {"algorithm.steps": [1, 5]}, "seeds": [1, 2]}; `stop` a
        rule that stops some early, as {"kind": "median", "metric": "gap"}.
        """
        return self._send(group_calls.sweep(spec, points, stop, name, idempotency_key, terms))

    def group(self, group: str) -> GroupDetail:
        """Return a group, and how far it is."""
        return self._send(group_calls.get(group))

    def groups(self, *, limit: int = 50, cursor: str | None = None) -> GroupPage:
        """Return part of the list of groups, newest first."""
        return self._send(group_calls.page(limit, cursor))

    def group_jobs(self, group: str, *, after: int = 0, limit: int = 100) -> ChildPage:
        """Return jobs of a group after a number, and their points."""
        return self._send(group_calls.jobs(group, after, limit))

    def cancel_group(self, group: str) -> GroupDetail:
        """Cancel the jobs of a group that are not over."""
        return self._send(group_calls.cancel(group))

    def delete_group(self, group: str) -> None:
        """Forget a group that is over, and its jobs."""
        self._send(group_calls.delete(group))

    def delete(self, job: str) -> None:
        """Forget a job that is over."""
        self._send(calls.delete(job))

    def records(self, job: str, *, after: int = 0, limit: int = 1000, wait: float = 0.0) -> Log:
        """Return part of a job's log; with none there, wait for one up to `wait` seconds."""
        return self._send(calls.records(job, after, limit, wait))

    def lifecycle(self, job: str, *, after: int = 0) -> Sequence[Lifecycle]:
        """Return what happened to a job beside its records, at most 1000 events."""
        return self._send(calls.lifecycle(job, after))

    def attempts(self, job: str) -> Sequence[Attempt]:
        """Return the attempts at a job."""
        return self._send(calls.attempts(job))

    def result(self, job: str) -> dict[str, Any]:
        """Return the result of a job that has succeeded."""
        return self._send(calls.result(job))

    def artefacts(self, job: str) -> Sequence[Artefact]:
        """Return what files a job left."""
        return self._send(calls.artefacts(job))

    def artefact(self, job: str, name: str) -> bytes:
        """Return a file that a job left."""
        return self._send(calls.artefact(job, name))

    def catalogue(self) -> dict[str, Any]:
        """Return the kinds that a specification can name."""
        return self._send(calls.catalogue())

    def presets(self) -> Sequence[Preset]:
        """Return the presets."""
        return self._send(calls.presets())

    def workers(self) -> Sequence[Worker]:
        """Return the workers that are there."""
        return self._send(calls.workers())

    def wait(self, job: str) -> JobDetail:
        """Wait until a job is over, and return it."""
        for _ in self.watch(job, after=self.get(job).progress.seq):
            pass
        return self.get(job)

    def watch(self, job: str, *, after: int = 0, lifecycle_after: int = 0) -> Iterator[Event]:
        """Yield all records after number `after`, each once and in order, until the job is over.

        What happened to the job comes between them as `Lifecycle`; the last value is an `End`. A
        lost connection is made again, and the stream goes on where it was.
        """
        position = Position(after, lifecycle_after)
        for frame in self._follow(f"{calls.get(job).path}/events", position):
            if (event := position.take(frame)) is not None:
                yield event

    def watch_many(
        self, jobs: Iterable[str] | Positions | None = None
    ) -> Iterator[tuple[str, Event | Reset]]:
        """Yield what `watch` does of many jobs, each value with the id of its job, on one stream.

        Of the jobs given, at most 100, until all are over; without any, of those that have begun
        and are not over, and of all that begin, for ever. Given positions, it goes on from there,
        and they move along: their `cursor` is where to go on later. A `Reset`, with the id "", says
        that they are too old to know all jobs that began since.
        """
        positions = jobs if isinstance(jobs, Positions) else Positions(jobs)
        for frame in self._follow("/v1/events", positions):
            yield from positions.take(frame)

    def _follow(self, path: str, position: Position | Positions) -> Iterator[Frame]:
        """Yield the frames of as many connections as are needed, until the position is over."""
        patience = Patience(self.url, self._patience, self._tell)
        while not position.over:
            try:
                for frame in self._frames(path, position.params, patience):
                    yield frame
                    if position.over:
                        return
                time.sleep(patience.pause("the stream ended early"))
            except httpx.TransportError as error:
                time.sleep(patience.pause(error))

    def _frames(
        self, path: str, params: Mapping[str, str | int], patience: Patience
    ) -> Iterator[Frame]:
        """Yield the frames of one connection."""
        frames = Frames()
        patience.asks()
        timeout = stream_timeout(self._timeout)
        with self._http.stream("GET", path, params=params, timeout=timeout) as response:
            if not response.is_success:
                response.read()
                error = calls.refusal(response)
                if response.status_code in TRANSIENT and not patience.over:
                    raise httpx.ReadError(str(error))  # which is worth another try
                raise error
            for piece in response.iter_raw():
                patience.answered()
                yield from frames.feed(piece)

    def _send(self, call: Call[T]) -> T:
        patience = Patience(self.url, self._patience, self._tell)
        while True:
            request = call.build(self._http, self._timeout)
            patience.asks()
            try:
                with _alarm(patience):
                    response = self._http.send(request)
            except httpx.TransportError as error:
                if not worth_another_try(error, call.repeatable):
                    raise patience.give_up(error) from None
                time.sleep(patience.pause(error))
                continue
            if response.status_code not in TRANSIENT:
                patience.answered()
            elif call.repeatable and not patience.over:
                time.sleep(patience.pause(calls.refusal(response)))
                continue
            return call.result(response)


@contextmanager
def _alarm(patience: Patience) -> Iterator[None]:
    """Let it be said when the answer takes long."""
    if patience.tell is None:
        yield
        return
    timer = Timer(TELL_AFTER, patience.say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()

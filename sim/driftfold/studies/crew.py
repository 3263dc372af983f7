"""The crew: processes of this machine that carry out orders, one at a time each.

A process takes its orders from a pipe. Anything that comes while it works, and the end of the pipe
too, means that it is to stop after the present round, with a snapshot: so nobody outlives a study
that was killed for longer than a round, or than `GRACE` where a round takes long.
"""

import os
import signal
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from time import monotonic, sleep
from types import MappingProxyType, TracebackType
from typing import Generic, Self, TypeVar

from driftfold.studies.orders import Order, Outcome, carry_out

GRACE = 15.0  # seconds to end a round and take a snapshot
K = TypeVar("K")


@dataclass(frozen=True)
class Started(Generic[K]):
    """An order was begun."""

    key: K


@dataclass(frozen=True)
class Advanced(Generic[K]):
    """So many rounds of it are done."""

    key: K
    rounds: int


@dataclass(frozen=True)
class Ended(Generic[K]):
    """It is over."""

    key: K
    outcome: Outcome


Event = Started[K] | Advanced[K] | Ended[K]


class Crew:
    """Some processes; a with statement stops them in the end, whatever happens.

    >>> with Crew(1) as crew:
    ...     list(crew.work([]))
    []
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._members: list[_Member] = []

    def work(
        self, orders: Iterable[tuple[K, Order]], after: Mapping[K, K] = MappingProxyType({})
    ) -> Generator[Event[K], None, None]:
        """Carry out orders, the first ones first, and yield what happens.

        One that comes `after` another begins when that is done, and fails where that fails. None
        may come after itself, be it by way of others.
        """
        waiting = dict(orders)
        busy: dict[Connection, tuple[_Member, K]] = {}
        while waiting or busy:
            running = {key for _, key in busy.values()}
            for key in list(waiting):
                if len(busy) == self.size:
                    break
                before = after.get(key)
                if before in waiting or before in running:
                    continue
                member = self._free({member for member, _ in busy.values()})
                member.pipe.send(waiting.pop(key))
                busy[member.pipe] = member, key
                running.add(key)
                yield Started(key)
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                member, key = busy[pipe]
                told = member.hear()
                if isinstance(told, int):
                    yield Advanced(key, told)
                else:
                    del busy[pipe]
                    yield Ended(key, told)
                    if told.ended != "done":
                        yield from _given_up(key, told, waiting, after)

    def stop(self) -> None:
        """End all processes: those that work stop after their round, with a snapshot.

        Interrupted meanwhile, it waits for nobody.
        """
        deadline = monotonic() + GRACE
        try:
            for member in self._members:
                member.dismiss()
            for member in self._members:
                member.end(deadline)
        except BaseException:
            for member in self._members:
                member.end(monotonic())
            raise
        finally:
            self._members.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _free(self, busy: "set[_Member]") -> "_Member":
        self._members = [member for member in self._members if member.alive]
        for member in self._members:
            if member not in busy:
                return member
        self._members.append(_Member())
        return self._members[-1]


def _given_up(
    failed: K, outcome: Outcome, waiting: dict[K, Order], after: Mapping[K, K]
) -> Generator[Event[K], None, None]:
    """Take out of the line what comes after an order that is not done."""
    for key in [key for key in waiting if after.get(key) == failed]:
        del waiting[key]
        lost = Outcome("failed", f"it needs {failed}, which has no result: {outcome.about}")
        yield Ended(key, lost)
        yield from _given_up(key, lost, waiting, after)


class _Member:
    """One process, as its crew sees it."""

    def __init__(self) -> None:
        context = get_context("spawn")  # a fork would copy the threads' locks of this process
        self.pipe, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(target=_serve, args=(theirs,), daemon=True)
        # Ctrl-C reaches all processes of a terminal, also one that is not yet up to ignoring it.
        resource_tracker.ensure_running()  # which would let signals through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def hear(self) -> int | Outcome:
        """Return what it says: rounds done, or an outcome. Its death is one, too."""
        try:
            told: int | Outcome = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode or 0
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return Outcome("failed", f"its process died ({how})")
        return told

    def dismiss(self) -> None:
        try:
            self.pipe.send(None)
        except OSError:
            return  # it is gone

    def end(self, deadline: float) -> None:
        self._process.join(max(0.0, deadline - monotonic()))
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.pipe.close()


def _serve(pipe: Connection) -> None:
    """Take orders until there are no more."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the study hears them, and says so by the pipe
    Thread(target=_end_with_the_study, daemon=True).start()

    def tell(rounds: int) -> None:
        with suppress(OSError):  # the study is gone, and the work is to end in order
            pipe.send(rounds)

    try:
        while (order := pipe.recv()) is not None:
            pipe.send(carry_out(order, stop=pipe.poll, tell=tell))
    except (EOFError, OSError):
        return  # the study is gone


def _end_with_the_study() -> None:
    """Wait for the study's end, and end this process soon after, whatever it is doing."""
    study = parent_process()
    assert study is not None
    study.join()
    sleep(GRACE)
    os._exit(1)

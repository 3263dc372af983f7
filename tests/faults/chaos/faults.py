"""The kinds of faults, and how each is done to a fleet."""

import asyncio
import os
import resource
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress

from redis import Redis
from redis.exceptions import RedisError

from tests.faults.chaos.fleet import Fleet
from tests.faults.chaos.members import KILLED, TOLD, Member
from tests.faults.chaos.schedule import Fault

STARTS_WITHIN, LOOK = 600.0, 0.1  # seconds

Hurt = Callable[[Fleet, Fault], Awaitable[None]]


async def kill_worker(fleet: Fleet, fault: Fault) -> None:
    """SIGKILL."""
    (await _worker(fleet, fault)).signal(signal.SIGKILL, *KILLED)


async def stop_worker(fleet: Fleet, fault: Fault) -> None:
    """SIGSTOP, often past its lease, then SIGCONT; what it has started goes on."""
    worker = await _worker(fleet, fault)
    worker.signal(signal.SIGSTOP)
    await asyncio.sleep(fault.between(0.3 * fleet.lease, 2.5 * fleet.lease))
    worker.signal(signal.SIGCONT)


async def drain_worker(fleet: Fleet, fault: Fault) -> None:
    """SIGTERM: it ends its rounds, and gives its jobs back."""
    (await _worker(fleet, fault)).signal(signal.SIGTERM, *TOLD)


async def kill_child(fleet: Fleet, fault: Fault) -> None:
    """SIGKILL to the process of an attempt."""
    _to_child(fleet, fault, signal.SIGKILL)


async def starve_child(fleet: Fleet, fault: Fault) -> None:
    """The process of an attempt gets no more memory from the system."""
    if (pid := fault.of(fleet.jobs())) is not None:
        with suppress(ProcessLookupError, ValueError):
            _, hard = resource.prlimit(pid, resource.RLIMIT_AS)
            resource.prlimit(pid, resource.RLIMIT_AS, (1, hard))


async def kill_template(fleet: Fleet, fault: Fault) -> None:
    """SIGKILL to the process that a worker forks attempts from."""
    known = (await _worker(fleet, fault)).descendants()
    others = sorted(
        pid for name, pids in known.items() if name.startswith("python") for pid in pids
    )
    if (pid := fault.of(others)) is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def kill_store(fleet: Fleet, fault: Fault) -> None:
    """SIGKILL to the job store; it comes back with its append-only file."""
    with suppress(ProcessLookupError):
        os.kill(fleet.server.pid, signal.SIGKILL)
    await asyncio.sleep(fault.between(0.05, 1.5 * fleet.lease))
    await asyncio.to_thread(fleet.server.restart)


async def pause_store(fleet: Fleet, fault: Fault) -> None:
    """CLIENT PAUSE: it answers nobody for a while."""
    ms = int(1000 * fault.between(0.2, 1.5 * fleet.lease))

    def pause() -> None:
        with suppress(RedisError), Redis.from_url(fleet.server.url, socket_timeout=5.0) as redis:
            redis.execute_command("CLIENT", "PAUSE", ms, "ALL")

    await asyncio.to_thread(pause)
    await asyncio.sleep(ms / 1000)


async def stall_network(fleet: Fleet, fault: Fault) -> None:
    """Nothing passes between one worker and the job store, often for longer than its lease."""
    fleet.network.stall()
    await asyncio.sleep(fault.between(0.3 * fleet.lease, 2.5 * fleet.lease))
    fleet.network.flow()


async def reset_network(fleet: Fleet, fault: Fault) -> None:
    """The connections of one worker break, some with a reply on its way."""
    fleet.network.reset()


async def fill_disk(fleet: Fleet, fault: Fault) -> None:
    """The disk with the runs is full for a while."""
    fleet.disk.fill()
    await asyncio.sleep(fault.between(0.3, 1.5 * fleet.lease))
    fleet.disk.free()


async def lock_archive(fleet: Fleet, fault: Fault) -> None:
    """Somebody else writes to the archive for a while, now and then for too long."""
    seconds = 12.0 if fault.length > 0.95 else fault.between(0.2, 2.0 * fleet.lease)
    archive = sqlite3.connect(fleet.archive, isolation_level=None, timeout=0.0)
    try:
        with suppress(sqlite3.OperationalError):  # it is being written to: so it is locked
            archive.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(seconds)
    finally:
        archive.close()


async def kill_api(fleet: Fleet, fault: Fault) -> None:
    """SIGKILL to the API."""
    (await _up(fleet, 0)).signal(signal.SIGKILL, *KILLED)


async def stop_api(fleet: Fleet, fault: Fault) -> None:
    """SIGTERM to the API: it ends its streams and goes."""
    (await _up(fleet, 0)).signal(signal.SIGTERM, *TOLD)


FAULTS: dict[str, Hurt] = {
    hurt.__name__.replace("_", " "): hurt
    for hurt in (
        *(kill_worker, stop_worker, drain_worker, kill_child, starve_child, kill_template),
        *(kill_store, pause_store, stall_network, reset_network),
        *(fill_disk, lock_archive, kill_api, stop_api),
    )
}

ALONE = ("kill store", "pause store", "fill disk", "lock archive", "stall network")
"""Faults that are not done twice at the same time."""


async def _worker(fleet: Fleet, fault: Fault) -> Member:
    place = fault.of(range(1, len(fleet.members)))
    assert place is not None
    return await _up(fleet, place)


async def _up(fleet: Fleet, place: int) -> Member:
    """The member at a place, once it is at work: a start that fails is no fault worth much."""
    with suppress(TimeoutError):
        async with asyncio.timeout(STARTS_WITHIN):
            while not fleet.members[place].up:
                await asyncio.sleep(LOOK)
    return fleet.members[place]


def _to_child(fleet: Fleet, fault: Fault, number: signal.Signals) -> None:
    if (pid := fault.of(fleet.jobs())) is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, number)

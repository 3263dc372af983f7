"""``python -m tests.faults.chaos.recovery``: how soon a job goes on, or ends.

Prints JSON. Times are from the signal or the request, by the clock of this machine, to the
lifecycle event, by that of the job store, which is the same.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

from driftfold.spec import from_mapping
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.needs import needs_of
from driftfold_workers.redis_store import RedisJobStore
from tests.faults.chaos.carrying_out import carry_out, tell
from tests.faults.chaos.fleet import Fleet
from tests.faults.chaos.members import KILLED, TOLD, Member
from tests.workers.experiments import Behaviour, experiment
from tests.workers.stories import assert_undisturbed

ROUND, LEASE = 0.1, 2.0  # seconds
ENDLESS = 1_000_000  # rounds
LOOK = 0.005  # seconds
WITHIN = 120.0  # seconds, after which something is wrong


class Stand:
    """A fleet, and its job store to look at what happens."""

    def __init__(self, fleet: Fleet, store: RedisJobStore) -> None:
        self.fleet, self.store = fleet, store

    @classmethod
    @asynccontextmanager
    async def open(cls, behaviour: Behaviour) -> AsyncIterator["Stand"]:
        """A fleet at work, whose rounds take `ROUND` seconds."""
        behaviour.set(pause=ROUND)
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="driftfold-chaos-"))
            fleet = await stack.enter_async_context(Fleet.at(Path(folder), LEASE, behaviour))
            opened = RedisJobStore.open(fleet.server.url)
            yield cls(fleet, await stack.enter_async_context(opened))

    async def up(self) -> None:
        """Wait until everybody is at work."""
        await self.until(lambda: _true(all(member.up for member in self.fleet.members)))

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait for something."""
        async with asyncio.timeout(WITHIN):
            while not await holds():
                await asyncio.sleep(LOOK)

    async def begin(self, rounds: int = ENDLESS) -> Job:
        """A new job that has told something."""
        spec = experiment(rounds, checkpoint_every=10)
        needs = needs_of(from_mapping(spec))
        job = await self.store.submit(spec, needs, horizon_rounds=rounds)
        await self.told(job.id)
        return job

    async def told(self, job: str) -> int:
        """Wait for one more record of a job; the number of the last one."""
        before = (await self.store.get(job)).seq
        await self.store.read(job, after=before, wait=WITHIN)
        return before

    async def owner(self, job: str) -> Member:
        """The worker that runs a job."""
        name = (await self.store.get(job)).worker.partition("-")[0]
        return next(member for member in self.fleet.workers if member.role.name == name)

    async def since(self, job: str, then: float, number: int, *kinds: str) -> float:
        """Seconds from a time to the first event of some kinds after event `number`."""
        while True:
            for event in await self.store.events(job, after=number):
                if event.kind in kinds:
                    return event.time - then
            await asyncio.sleep(LOOK)

    async def last(self, job: str) -> int:
        """Number of a job's last event."""
        return len(await self.store.events(job, limit=1_000_000))

    async def end(self, job: str) -> None:
        """Cancel a job, and wait for its end."""
        with suppress(Exception):
            await self.store.cancel(job)
        await self.until(lambda: self._over(job))

    async def _over(self, job: str) -> bool:
        return (await self.store.get(job)).state.final


async def _true(value: bool) -> bool:
    return value


async def worker_kill(stand: Stand, tries: int) -> list[float]:
    """From SIGKILL to a worker until another one has its job."""
    job, found = await stand.begin(), []
    for number in range(tries):
        await stand.up()
        await stand.told(job.id)
        await asyncio.sleep(random.Random(number).random() * 0.5)
        owner, before = await stand.owner(job.id), await stand.last(job.id)
        then = time.time()
        owner.signal(signal.SIGKILL, *KILLED)
        found.append(await stand.since(job.id, then, before, "claimed", "resumed"))
    await stand.end(job.id)
    return found


async def child_crash(stand: Stand, tries: int) -> list[float]:
    """From SIGKILL to the process of an attempt until the next one has begun."""
    job, found = await stand.begin(), []
    await stand.up()
    for _ in range(tries):
        await stand.told(job.id)
        before, (pid,) = await stand.last(job.id), stand.fleet.jobs()
        then = time.time()
        os.kill(pid, signal.SIGKILL)
        found.append(await stand.since(job.id, then, before, "claimed", "resumed"))
    await stand.end(job.id)
    return found


async def drain(stand: Stand, tries: int) -> list[float]:
    """From SIGTERM to a worker until its job is given back."""
    job, found = await stand.begin(), []
    for _ in range(tries):
        await stand.up()
        await stand.told(job.id)
        owner, before = await stand.owner(job.id), await stand.last(job.id)
        then = time.time()
        owner.signal(signal.SIGTERM, *TOLD)
        found.append(await stand.since(job.id, then, before, "released"))
    await stand.end(job.id)
    return found


async def cancel(stand: Stand, tries: int) -> list[float]:
    """From the cancellation of a job until its end."""
    found = []
    await stand.up()
    for _ in range(tries):
        job = await stand.begin()
        then = time.time()
        await stand.store.cancel(job.id)
        found.append(await stand.since(job.id, then, 0, "canceled"))
    return found


async def deaf_cancel(stand: Stand, tries: int) -> list[float]:
    """The same for jobs whose rounds do not end."""
    found = []
    await stand.up()
    for _ in range(tries):
        stand.fleet.behaviour.set(pause=ROUND)
        job = await stand.begin()
        stand.fleet.behaviour.set(deaf=True)
        await asyncio.sleep(2 * ROUND)
        then = time.time()
        await stand.store.cancel(job.id)
        found.append(await stand.since(job.id, then, 0, "canceled"))
    stand.fleet.behaviour.set(pause=ROUND)
    return found


async def random_kills(stand: Stand, kills: int) -> dict[str, Any]:
    """One job that is killed again and again, compared with an undisturbed run."""
    chance = random.Random(kills)
    rounds = 15 * kills  # of 100 the job store has the whole log to the end
    stand.fleet.behaviour.set(pause=0.02)
    job = await stand.begin(rounds)
    done = 0
    while done < kills:
        await stand.told(job.id)
        await asyncio.sleep(chance.uniform(0.0, 0.3))
        if (await stand.store.get(job.id)).state.final:
            break
        if chance.random() < 0.1:
            (await stand.owner(job.id)).signal(signal.SIGKILL, *KILLED)
            done += 1
        else:
            for pid in stand.fleet.jobs()[:1]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    done += 1
    stand.fleet.behaviour.set()
    await stand.until(lambda: stand._over(job.id))
    await assert_undisturbed(stand.store, job)
    attempts = (await stand.store.get(job.id)).epoch
    return {"kills": done, "attempts": attempts, "rounds": rounds, "same": True}


PROMISES: dict[str, tuple[Callable[[Stand, int], Awaitable[list[float]]], float]] = {
    "worker kill": (worker_kill, LEASE + 1),
    "child crash": (child_crash, 0.5),
    "drain": (drain, ROUND + 0.5),
    "cancel": (cancel, ROUND + 0.5),
    "cancel of a round that does not end": (deaf_cancel, 6.0),
}


def distribution(found: list[float], promise: float) -> dict[str, Any]:
    """How long it took, and how often that was within what is promised.

    >>> distribution([0.1, 0.2, 0.9], 0.5)
    {'tries': 3, 'least': 0.1, 'median': 0.2, 'most': 0.9, 'promised': 0.5, 'within': 2}
    """
    return {
        "tries": len(found),
        "least": round(min(found), 3),
        "median": round(median(found), 3),
        "most": round(max(found), 3),
        "promised": promise,
        "within": sum(seconds <= promise for seconds in found),
    }


async def measure(tries: int, kills: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything."""
    behaviour = Behaviour()
    report: dict[str, Any] = {"round": ROUND, "lease": LEASE, "cores": os.cpu_count()}
    try:
        async with Stand.open(behaviour) as stand:
            await stand.up()
            report["load before"] = os.getloadavg()[0]
            for name, (take, promise) in PROMISES.items():
                report[name] = distribution(await take(stand, tries), promise)
                tell(f"{name}: {report[name]}")
            report["random kills"] = await random_kills(stand, kills)
            report["load after"] = os.getloadavg()[0]
            report["surprises"] = stand.fleet.surprises
    finally:
        behaviour.forget()
    return report


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--tries", type=int, default=20)
    words.add_argument("--kills", type=int, default=100)
    given = words.parse_args()
    print(json.dumps(carry_out(measure(given.tries, given.kills, tell)), indent=1))


if __name__ == "__main__":
    main()

"""A campaign: jobs are ordered and faults are met until all has been done; then it is checked."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from driftfold_workers.stopping import stopped
from tests.faults.chaos.evidence import Evidence, gather
from tests.faults.chaos.faults import ALONE, FAULTS
from tests.faults.chaos.fleet import Fleet
from tests.faults.chaos.members import processes_with
from tests.faults.chaos.orders import Order, orders
from tests.faults.chaos.rules import Case, broken
from tests.faults.chaos.schedule import Fault, fault
from tests.faults.chaos.users import Users
from tests.workers.experiments import Behaviour

FINAL = ("succeeded", "failed", "canceled")
MOST = 0.8  # of the rounds are done, and of the jobs ordered, by the last fault
AHEAD = 6  # jobs that are ordered before the first fault
PATIENCE = 30.0  # seconds for the rounds between two faults
SETTLED_WITHIN = 60.0  # seconds
LOOK = 0.2  # seconds


@dataclass(frozen=True)
class Plan:
    """How much of everything.

    Attributes
    ----------
    seed, faults, rounds
        Which faults, how many, over how many rounds at least.
    kinds
        Of faults.
    every
        Seconds from one fault to the next, about; on a busy machine they wait for rounds, too.
    pause
        Seconds that a round takes.
    lease
        Of the workers, in seconds.
    within
        Seconds that the service has to finish after the last fault.
    """

    seed: int = 1
    faults: int = 200
    rounds: int = 10_000
    kinds: tuple[str, ...] = tuple(FAULTS)
    every: float = 1.2
    pause: float = 0.03
    lease: float = 2.0
    within: float = 600.0


@dataclass
class Report:
    """What a campaign came to; `broken` is empty when all is well."""

    plan: Plan
    seconds: float = 0.0
    met: int = 0
    load: tuple[float, float, float] = (0.0, 0.0, 0.0)
    faults: Counter[str] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    records: int = 0
    attempts: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    answers: Counter[int] = field(default_factory=Counter)
    begun: dict[str, int] = field(default_factory=dict)
    read_along: int = 0
    broken: dict[str, list[str]] = field(default_factory=dict)
    folder: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as a table."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**told, "plan": asdict(self.plan)}


async def campaign(plan: Plan, tell: Callable[[str], None] = print) -> Report:
    """Carry out a plan. The folder of a campaign that broke a rule is kept."""
    folder = Path(tempfile.mkdtemp(prefix="driftfold-chaos-"))
    behaviour = Behaviour()
    behaviour.set(pause=plan.pause)
    report = Report(plan)
    begun = time.monotonic()
    tell(f"in {folder}")
    try:
        async with Fleet.at(folder, plan.lease, behaviour) as fleet:
            await _meet(fleet, plan, report, tell)
            if report.broken:  # what is mounted goes
                shutil.copytree(fleet.runs, folder / "runs as they were")
    finally:
        behaviour.forget()
    report.seconds, report.load = round(time.monotonic() - begun, 1), os.getloadavg()
    if report.broken:
        report.folder = str(folder)
    else:
        shutil.rmtree(folder)
    return report


async def _meet(fleet: Fleet, plan: Plan, report: Report, tell: Callable[[str], None]) -> None:
    wanted, users = orders(plan.seed, plan.rounds), Users(fleet.url)
    sending = asyncio.create_task(_order(users, wanted, plan, report), name="orders")
    try:
        await _hurt(fleet, plan, report, tell)
        tell(f"all faults were met; {_standing(fleet)}")
        fleet.behaviour.set()
        try:
            await asyncio.wait_for(sending, plan.within)
            await asyncio.wait_for(_over(fleet), plan.within)
            await asyncio.wait_for(_recorded(fleet), SETTLED_WITHIN)
        except TimeoutError:
            users.complaints.append(f"not over {plan.within:g} s after the last fault")
    finally:
        await stopped(sending)
    late = await fleet.stop(*fleet.workers)
    evidence = await asyncio.to_thread(gather, fleet.archive, fleet.server.url, "df", fleet.runs)
    late += await fleet.stop(fleet.api)
    evidence.processes = await asyncio.to_thread(processes_with, fleet.token)
    seen, canceled = users.seen, frozenset(users.canceled)
    tell("checking")
    report.broken = await asyncio.to_thread(
        broken, Case(wanted, evidence, users.accepted, canceled, seen)
    )
    others = {"surprises": fleet.surprises + late, "complaints": users.complaints}
    report.broken |= {name: told for name, told in others.items() if told}
    report.answers, report.begun = users.answers, fleet.begun
    report.read_along = sum(map(len, seen.values()))
    _sum_up(report, evidence)


async def _order(users: Users, wanted: list[Order], plan: Plan, report: Report) -> None:
    """Order jobs one after the other, so that some are new until the last fault."""
    async with asyncio.TaskGroup() as group:
        for number, order in enumerate(wanted):
            while report.met * len(wanted) < (number - AHEAD) * plan.faults * MOST:
                await asyncio.sleep(LOOK)
            group.create_task(users.want(order), name=order.key)


async def _hurt(fleet: Fleet, plan: Plan, report: Report, tell: Callable[[str], None]) -> None:
    """Meet all faults; those that last go on beside those that follow."""
    locks = {kind: asyncio.Lock() for kind in ALONE}

    async def meet(each: Fault) -> None:
        if each.kind in locks:
            async with locks[each.kind]:
                await FAULTS[each.kind](fleet, each)
        else:
            await FAULTS[each.kind](fleet, each)
        report.faults[each.kind] += 1

    async with asyncio.TaskGroup() as group:
        for number in range(1, plan.faults + 1):
            each = fault(plan.seed, number, plan.kinds, plan.every)
            wanted = max(1, int(MOST * plan.rounds * number / plan.faults))
            # Faults alone may keep it from getting on.
            await _reached(fleet, wanted, PATIENCE if number > 1 else plan.within)
            await asyncio.sleep(each.pause)
            tell(f"{number}/{plan.faults} {each.kind}; {_standing(fleet)}")
            report.met = number
            group.create_task(meet(each), name=each.kind)


async def _reached(fleet: Fleet, rounds: int, within: float) -> None:
    """Wait until so many rounds are recorded, but not for ever."""
    with suppress(TimeoutError):
        async with asyncio.timeout(within):
            while sum(row[2] for row in _states(fleet)) < rounds:
                await asyncio.sleep(LOOK)


def _states(fleet: Fleet) -> list[tuple[str, int, int]]:
    """States, how many jobs are in each, and how many rounds those have."""
    try:
        with closing(sqlite3.connect(f"file:{fleet.archive}?mode=ro", uri=True)) as archive:
            told = archive.execute("SELECT state, count(*), sum(rounds) FROM jobs GROUP BY state")
            return told.fetchall()
    except sqlite3.Error:  # it is not there yet
        return []


def _standing(fleet: Fleet) -> str:
    """How far everything is recorded."""
    states = _states(fleet)
    rounds = sum(row[2] for row in states)
    return f"{rounds} rounds, " + ", ".join(f"{count} {state}" for state, count, _ in states)


async def _over(fleet: Fleet) -> None:
    """Wait until nothing is left to do, by what is recorded."""
    while not all(state in FINAL for state, _, _ in _states(fleet)):
        await asyncio.sleep(LOOK)


async def _recorded(fleet: Fleet) -> None:
    """Wait until the job store knows that all is recorded: a moment later."""
    async with Redis.from_url(fleet.server.url) as redis:
        while await redis.exists("{df}:a:unrecorded"):
            await asyncio.sleep(LOOK)


def _sum_up(report: Report, evidence: Evidence) -> None:
    for told in evidence.archive.values():
        report.jobs[told.row["state"]] += 1
        report.rounds += told.row["rounds"]
        report.records += len(told.records)
        report.attempts += len(told.attempts)
        report.outcomes.update(attempt["outcome"] for attempt in told.attempts)

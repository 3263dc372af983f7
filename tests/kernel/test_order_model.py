"""The order of events against a plain model: one sorted list, and a list of what is due.

Processes sleep, set timers, cancel timers and cancel each other's sleeps; the two-level queue must
give what sorting by (time, order of scheduling) gives, whatever its widths.
"""

import asyncio
from dataclasses import dataclass

import pytest

from driftfold.kernel import VirtualLoop, now, run, sleep
from driftfold.kernel.engine import run_slice
from driftfold.kernel.queue import EventQueue

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

# Eighths add up without rounding, so that ties are common; then neighbours in floating point, next
# to nothing, and far away.
EIGHTHS = st.integers(0, 24).map(lambda eighths: eighths / 8)
ODD = st.sampled_from([1e-300, 0.1, 0.3, 0.1 + 0.2, 1.0 + 2**-52, 1e6, 1e300])
DELAYS = EIGHTHS | EIGHTHS | ODD


@dataclass(frozen=True)
class Step:
    """What a process does each time it wakes, before it sleeps for `delay`."""

    delay: float
    timers: tuple[float, ...] = ()
    cancel_timer: int | None = None  # counted back from the newest
    cancel_process: int | None = None


STEPS = st.builds(
    Step,
    DELAYS,
    st.lists(DELAYS, max_size=3).map(tuple),
    st.none() | st.integers(1, 4),
    st.none() | st.integers(0, 7),
)
PLANS = st.lists(st.lists(STEPS, max_size=8), min_size=1, max_size=8)

Plans = list[list[Step]]
Log = list[tuple[float, str]]


def of_the_model(plans: Plans) -> Log:
    log: Log = []
    time, scheduled = 0.0, 0
    later: list[tuple[float, int, str]] = []  # time, order of scheduling, who
    due = [f"p{number}" for number in range(len(plans))]
    timers: list[str] = []
    places = dict.fromkeys(due, 0)  # the step each process comes to next
    asleep: set[str] = set()

    def schedule(who: str, delay: float) -> None:
        nonlocal scheduled
        scheduled += 1
        if time + delay > time:
            later.append((time + delay, scheduled, who))
        else:
            due.append(who)

    def drop(who: str) -> bool:
        before = len(later)
        later[:] = [event for event in later if event[2] != who]
        return len(later) < before

    def wake(who: str) -> None:
        log.append((time, who))
        if who.startswith("t"):
            return
        asleep.discard(who)
        plan = plans[int(who[1:])]
        place = places[who]
        places[who] += 1
        if place >= len(plan):
            return
        step = plan[place]
        for delay in step.timers:
            timers.append(f"t{len(timers)}")
            schedule(timers[-1], delay)
        if step.cancel_timer is not None and step.cancel_timer <= len(timers):
            timer = timers[-step.cancel_timer]
            drop(timer)
            due[:] = [other for other in due if other != timer]
        if step.cancel_process is not None:
            target = f"p{step.cancel_process}"
            if target in asleep and drop(target):
                due.append(target)
        asleep.add(who)
        schedule(who, step.delay)

    while later or due:
        later.sort()
        if later and (not due or later[0][0] == time):
            time, _, who = later.pop(0)
            wake(who)
        else:
            wake(due.pop(0))
    return log


def of_the_loop(plans: Plans) -> Log:
    log: Log = []
    timers: list[asyncio.TimerHandle] = []
    asleep: dict[int, asyncio.Task[None]] = {}

    def note(name: str) -> None:
        log.append((now(), name))

    async def process(number: int, me: list[asyncio.Task[None]]) -> None:
        loop = asyncio.get_running_loop()
        for step in plans[number]:
            log.append((now(), f"p{number}"))
            for delay in step.timers:
                name = f"t{len(timers)}"
                timers.append(loop.call_later(delay, note, name))
            if step.cancel_timer is not None and step.cancel_timer <= len(timers):
                timers[-step.cancel_timer].cancel()
            if step.cancel_process in asleep:
                asleep[step.cancel_process].cancel()
            asleep[number] = me[number]
            try:
                await sleep(step.delay)
            except asyncio.CancelledError:
                me[number].uncancel()
            del asleep[number]
        log.append((now(), f"p{number}"))

    async def main() -> None:
        tasks: list[asyncio.Task[None]] = []
        for number in range(len(plans)):
            tasks.append(asyncio.create_task(process(number, tasks)))
        await asyncio.wait(tasks)
        await sleep(1e301)  # the timers that are left

    run(main())
    return log


def briefly(loop: VirtualLoop, turns: int) -> bool:
    """Run three turns, and look at the widths anew after each such slice."""
    loop._queue.quiet = 0
    return run_slice(loop, 3)


@pytest.fixture(params=[(512, 64, False), (0, 1, True), (0, 16, True), (4, 3, True)])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    heap, bucket, brief = request.param
    monkeypatch.setattr(EventQueue, "HEAP", heap)
    monkeypatch.setattr(EventQueue, "BUCKET", bucket)
    if brief:
        monkeypatch.setattr(EventQueue, "LOOK", 1)
        monkeypatch.setattr("driftfold.kernel.loop.run_slice", briefly)


@pytest.mark.usefixtures("_sizes")
@settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(PLANS)
@example([[Step(0.1), Step(0.2)], [Step(0.1 + 0.2)], [Step(0.3, cancel_process=1)]])
def test_the_loop_fires_what_the_model_fires(plans: Plans) -> None:
    assert of_the_loop(plans) == of_the_model(plans)

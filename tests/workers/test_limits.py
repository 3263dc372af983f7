"""Jobs are held to what they may use up, over all their attempts."""

import math
import os
import signal
from pathlib import Path

import pytest

from driftfold.spec import from_mapping
from driftfold_workers.attempts.verdict import judge
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.needs import needs_of
from driftfold_workers.jobs.store import JobStore
from driftfold_workers.jobs.terms import Limits, Terms
from driftfold_workers.jobs.usage import Meter, Usage, cpu_of, exceeded, memory_of
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.children import child
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import until
from tests.workers.stories import assert_undisturbed, ended, recorded
from tests.workers.supervisors import processes, working

MIB = 2**20


async def submitted(store: JobStore, rounds: int, limits: Limits) -> Job:
    spec = experiment(rounds, checkpoint_every=3)
    return await store.submit(spec, needs_of(from_mapping(spec)), terms=Terms(limits=limits))


async def outcomes(store: JobStore, job: str) -> list[str]:
    return [
        str(event.facts["outcome"]) for event in await store.events(job) if "outcome" in event.facts
    ]


def test_imports_and_earlier_attempts_count_as_they_should() -> None:
    now = [100.0]
    meter = Meter(Usage(5.0, 7.0), os.getpid(), clock=lambda: now[0])
    now[0] += 2.0
    assert meter.read() == Usage(5.0, 9.0)  # nothing is known of its CPU before it has begun
    begun = cpu_of(os.getpid())
    assert begun is not None
    meter.begin(begun - 1.5)
    assert 6.5 <= meter.read().cpu < 60.0


def test_a_process_that_has_ended_keeps_what_it_had() -> None:
    meter = Meter(Usage(5.0, 0.0), 0)
    meter.begin(0.0)
    assert meter.read().cpu == 5.0


def test_at_its_limit_a_job_is_not_over_it() -> None:
    limits = Limits(cpu=1.0, wall=2.0)
    assert exceeded(limits, Usage(1.0, 2.0)) == ""
    assert "limits.cpu_seconds" in exceeded(limits, Usage(math.nextafter(1.0, 2.0), 2.0))
    assert "limits.wall_seconds" in exceeded(limits, Usage(1.0, 2.1))
    assert exceeded(Limits(), Usage(1e9, 1e9)) == ""


def test_the_lower_limit_on_memory_holds_and_is_told() -> None:
    assert memory_of(None, 5 * MIB)[0] == memory_of(9 * MIB, 5 * MIB)[0] == 5 * MIB
    assert memory_of(5 * MIB, 9 * MIB) == (
        5 * MIB,
        "its worker gives no more than 5 MiB (--memory)",
    )


def test_what_is_over_its_limit_has_failed_unless_it_was_done() -> None:
    assert judge(None, -9, over="over").state is State.FAILED
    assert judge(None, -9, over="over", canceling=True).state is State.CANCELED
    assert "out of memory" in judge(None, -9, starved=True).reason
    assert "?" not in judge(None, -9, starved=True).reason


@pytest.mark.slow
@pytest.mark.asyncio
@pytest.mark.parametrize("what", ["cpu", "wall"])
async def test_over_its_limit_a_job_fails_at_once(
    store: RedisJobStore, tmp_path: Path, behaviour: Behaviour, what: str
) -> None:
    behaviour.set(**({"burn": 0.05} if what == "cpu" else {"pause": 0.05}))
    job = await submitted(store, 100_000, Limits(cpu=1.0) if what == "cpu" else Limits(wall=1.0))
    async with working(store, tmp_path):
        over = await ended(store, job.id)
    assert (over.state, over.attempt) == (State.FAILED, 1)
    assert over.reason.startswith("over its limit of 1 s of ")
    assert over.reason.endswith(f"limits.{what}_seconds")
    assert await outcomes(store, job.id) == ["over its limit"]
    assert getattr(over.used, what) > 1.0
    assert over.checkpoint is not None
    attempt, _, name = over.checkpoint.partition(":")
    assert (tmp_path / job.id / "checkpoints" / attempt / f"{name}.npz").exists()
    assert (tmp_path / job.id / "rounds.parquet").exists()


@pytest.mark.slow
@pytest.mark.asyncio
async def test_what_killed_attempts_have_used_counts(
    store: RedisJobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(burn=0.05)
    job = await submitted(store, 100_000, Limits(cpu=2.0))
    used = 0.0
    async with working(store, tmp_path, attempts=100):

        async def has_used_more() -> bool:
            return (await store.get(job.id)).used.cpu > used + 0.4

        for _ in range(2):
            await until(has_used_more)
            os.kill(processes()[-1], signal.SIGKILL)
            used = (await store.get(job.id)).used.cpu
        over = await ended(store, job.id)
    assert (over.state, over.attempt) == (State.FAILED, 3)
    # Each attempt may have used a quarter of a second that its last heartbeat did not tell; the
    # last is looked at as often.
    assert 2.0 < over.used.cpu < 3.5


@pytest.mark.slow
@pytest.mark.asyncio
async def test_below_its_limits_nothing_is_different(
    store: RedisJobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    job = await submitted(store, 40, Limits(cpu=600.0, wall=600.0, memory=8192 * MIB))
    async with working(store, tmp_path):
        await ended(store, job.id)
    await assert_undisturbed(store, job)


@pytest.mark.slow
@pytest.mark.asyncio
async def test_out_of_memory(store: RedisJobStore, tmp_path: Path, behaviour: Behaviour) -> None:
    """It allocates more than it may, each time; after its attempts it has failed."""
    behaviour.set(memory=2 << 30, **{"from": 10})
    job = await submitted(store, 1000, Limits(memory=1024 * MIB))
    async with working(store, tmp_path, attempts=2):
        await recorded(store, job.id, 3)
        over = await ended(store, job.id)
    assert (over.state, over.attempt) == (State.FAILED, 2)
    assert over.reason.startswith("out of memory: Unable to allocate 2.00 GiB")
    assert over.reason.endswith(
        "it may use 1024 MiB of address space; submit it with more as limits.memory_mib"
    )
    assert over.checkpoint is not None
    assert processes() == []


@pytest.mark.slow
def test_without_its_supervisor_a_process_ends_by_itself(
    tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(burn=0.05)
    with child() as process:
        process.order("a", experiment(100_000), tmp_path, cpu=0.1)
        while process.hear():
            pass
        assert process.process.wait(10) == -signal.SIGXCPU

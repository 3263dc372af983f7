"""Online steps of Fed-ADE on digits: through the whole simulator, and as a bare program."""

import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from bench.bare_adaptation import BareFedADE
from driftfold import kernel
from driftfold.assembly import build
from driftfold.compute.base import Engine
from driftfold.compute.memories import Memories
from driftfold.compute.tickets import TicketBook
from driftfold.spec import JobSpec, load_spec
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.telemetry.recorder import Recorder
from driftfold.trees import nbytes
from driftfold.world.aggregate import Aggregator
from driftfold.world.keeper import Keeper
from driftfold.world.server import Server
from driftfold.world.story import live
from driftfold.world.tally import Tally
from driftfold.world.world import World

LOW, HIGH = 0.03, 1.0

Seconds = Callable[[], float]


def spec_of(clients: int, steps: int, *more: str) -> JobSpec:
    """Fed-ADE on the digits' streams, a round a step, evaluated at the ends alone."""
    return load_spec(
        "fedade-digits-label",
        overrides=[
            f"task.clients={clients}",
            f"task.steps={steps}",
            f"horizon.rounds={steps}",
            f"evaluate_every={10 * steps}",
            f"algorithm.rate={{kind='adaptive', low={LOW}, high={HIGH}}}",
            *more,
        ],
    )


def world_step(spec: JobSpec, world: World, steps: int) -> Seconds:
    """CPU seconds of a step in a run: events, visits, draws, work, server, records."""
    engine = spec.compute.engine(world.problem)

    def once() -> float:
        memories = Memories(world.algorithm.memory(world.problem))
        tickets = TicketBook(engine, world.phases, memories)
        tally, recorder = Tally(), Recorder()
        aggregator = Aggregator(world, tickets, recorder, tally)
        aggregator.evaluate = lambda *_: None  # type: ignore[method-assign]
        keeper = Keeper(recorder, None, "bench", 0, {}, {})

        async def main() -> float:
            started = process_time()
            await live(Server(world, tickets, aggregator, tally), spec.cadence, keeper)
            return process_time() - started

        return kernel.run(main()) / steps

    return once


def bare_step(world: World, steps: int) -> Seconds:
    """CPU seconds of a step of the bare program, on batches that were drawn before."""
    problem: Any = world.problem
    batches, labels = batches_of(problem, steps)

    def once() -> float:
        program = bare(problem)
        started = process_time()
        for x, y in zip(batches, labels, strict=True):
            program.step(x, y)
        return (process_time() - started) / steps

    return once


def batches_of(problem: StreamProblem, steps: int) -> tuple[list[Any], list[Any]]:
    """Inputs (C, n, pixels) and true classes of each step."""
    everyone = np.arange(problem.fleet.size)
    drawn = [problem.stream.batch(everyone, np.full_like(everyone, t)) for t in range(steps)]
    return [x.reshape(*x.shape[:2], -1) for x, _ in drawn], [y for _, y in drawn]


def bare(problem: StreamProblem) -> BareFedADE:
    """The bare program at the start of a problem's streams."""
    parts = problem.model.layout.parts(problem.source.start)
    named = {k: v.T if v.ndim == 2 else v for k, v in parts.items()}
    names = ("body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias")
    head = [named["head.weight"], named["head.bias"]]
    return BareFedADE([named[name] for name in names], head, problem.fleet.size, LOW, HIGH)


def memory_of_heads(clients: int, steps: int = 2) -> dict[str, Any]:
    """What a run takes whose clients step on heads of a MiniResNet6 alone, on digits of 8 x 8."""
    return _memory(clients, steps, "algorithm.shared_steps=0")


def memory_of_bodies(clients: int) -> dict[str, Any]:
    """What a step takes whose clients send bodies of a MiniResNet6, of which the mean is needed.

    The server has them worked out and added some at a time.
    """
    one_step = ("algorithm.shared_steps=1", "algorithm.personal_steps=1", "task.batch=1")
    told = _memory(clients, 1, *one_step)
    return {**told, "held_mb": round(Engine.payload_bytes / 1e6, 1)}


def _memory(clients: int, steps: int, *more: str) -> dict[str, Any]:
    """Megabytes that a run takes: arrays of NumPy, without the model that was there before."""
    spec = spec_of(
        clients,
        steps,
        "task.net={kind='mini_resnet6'}",
        "task.pretraining.epochs=1",
        "task.batch=4",
        "algorithm.risk={kind='entropy'}",
        *more,
    )
    world = build(spec)
    assert isinstance(world.problem, StreamProblem)
    kept = nbytes(world.algorithm.memory(world.problem))
    step = world_step(spec, world, steps)
    tracemalloc.start()
    step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "clients": clients,
        "kept_mb": round(clients * kept / 1e6, 1),
        "sent_mb": round(clients * world.phases[0].upload_bytes() / 1e6, 1),
        "peak_mb": round(peak / 1e6, 1),
        "one_model_mb": round(world.problem.source.start.nbytes / 1e6, 2),
        "full_copies_mb": round(clients * world.problem.source.start.nbytes / 1e6, 1),
    }

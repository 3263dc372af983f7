"""Conformance of an algorithm kind."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from driftfold.algorithms.base import Algorithm, Arrivals, LocalResult, Phase
from driftfold.compute.base import Engine, Stack
from driftfold.compute.debug import DebugEngine
from driftfold.compute.loop import LoopEngine
from driftfold.compute.stacked import StackedEngine
from driftfold.tasks.base import Problem
from driftfold.testing.expect import expect
from driftfold.trees import decode, encode, finite, leaves, map_leaves, nbytes, spread

TILES = (1, 7, 37, 64)
"""Clients in one tensor program; results must not differ by a bit between these."""


def check_algorithm(
    algorithm: Algorithm[Any], problem: Problem, tolerance: float = 1e-10, rounds: int = 2
) -> None:
    """Raise `AssertionError` unless `algorithm` keeps its contract on `problem`.

    Runs `rounds` rounds of all clients through all phases. Checked in each phase: payloads are of
    the declared kind, downloads and payloads as large as declared; all clients in one tensor
    program, or in tiles of `TILES`, give the same bits, and the loop engine the same numbers to
    `tolerance` relative to the largest; nothing given is changed; truncated work is that of fewer
    steps, where a field `steps`, of its own or of the one it wraps, says how many; memories keep
    structure and type; the server's step repeats itself and takes stale arrivals; states, downloads
    and memories survive a snapshot. The debug engine's checks are part of it, with their errors.

    >>> from driftfold.algorithms.rfedags import RFedAGS
    >>> from driftfold.data import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks import Pca
    >>> problem = Pca(data=GaussianBlocks(clients=9, samples=4, dimension=3), rank=1).build(Seed(1))
    >>> check_algorithm(RFedAGS(steps=2, batch=2), problem)
    """
    algorithm.check(problem)
    point = problem.initial_point()
    state = algorithm.begin(problem, point)
    expect(
        _same(algorithm.model(state), point),
        "the model of the first state is not the first iterate; begin at x",
    )
    everyone = np.arange(problem.fleet.size)
    fresh = algorithm.memory(problem)
    memory = None if fresh is None else spread(fresh, len(everyone))
    past: dict[int, Any] = {}
    for version in range(rounds):
        for number, phase in enumerate(algorithm.phases(problem)):
            download = phase.broadcast(state, version)
            _check_sizes(phase, download, everyone)
            work = Stack(
                phase,
                phase.steps,
                everyone,
                everyone + version,
                np.zeros(len(everyone)),
                [download],
                True,
                memory,
            )
            result = _check_work(problem, work, tolerance)
            _check_truncation(algorithm, problem, number, work)
            if memory is not None:
                _check_memory(phase, fresh, result.memory)
                memory = result.memory
            older = past.setdefault(number, download)
            state = _check_step(phase, state, result.payload, [download, older], everyone)
            for name, tree in (("state", state), ("download", download), ("memory", memory)):
                expect(
                    _same(tree, _through_snapshot(tree)),
                    f"{_name(phase)}: the {name} is not the same after a snapshot",
                )
    model = algorithm.model(state)
    off = float(problem.manifold.off_point(model))
    expect(
        model.shape == problem.manifold.shape and off < 1e-6,
        f"after {rounds} rounds the model has shape {model.shape} and is {off} off the manifold",
    )
    _check_metrics(algorithm.evaluate(problem, state, (everyone, memory), 0.0))


def _check_work(problem: Problem, work: Stack, tolerance: float) -> LocalResult[Any]:
    name = _name(work.phase)
    result = _run(StackedEngine(problem, len(work.clients)), work)
    for part in (result.payload, result.memory, dict(result.metrics)):
        for leaf in leaves(part):
            expect(
                leaf.shape[:1] == work.clients.shape,
                f"{name}: local work of {len(work.clients)} clients gave an array of shape "
                f"{leaf.shape}; the first axis is the clients'",
            )
    expect(finite(result.payload), f"{name} sent values that are not finite")
    size = nbytes(result.payload) // len(work.clients)
    declared = work.phase.upload_bytes()
    expect(size == declared, f"{name} sends {size} bytes a client up; upload_bytes says {declared}")
    for tile in TILES:
        tiled = _run(StackedEngine(problem, tile), work)
        expect(
            _same(_parts(tiled), _parts(result)),
            f"{name} gives other bits in tiles of {tile}; treat each client alone, e.g. no product "
            "over a flattened stack",
        )
    _check_close(name, _run(LoopEngine(problem), work), result, tolerance)
    DebugEngine(problem, max(1e-9, tolerance)).run(_copied(work))
    copies = [map_leaves(np.copy, work.downloads[0]) for _ in work.clients]
    apart = replace(work, downloads=copies, shared=False)
    expect(
        _same(_parts(_run(StackedEngine(problem, len(work.clients)), apart)), _parts(result)),
        f"{name} gives other bits when each client has its own copy of the download",
    )
    return result


def _check_truncation(
    algorithm: Algorithm[Any], problem: Problem, number: int, work: Stack
) -> None:
    """Truncated work is that of the same algorithm configured to do no more steps."""
    if _shorter(algorithm, 1) is None:
        return
    engine = StackedEngine(problem, len(work.clients))
    for steps in {1, work.phase.steps - 1} - {0, work.phase.steps}:
        shorter = _shorter(algorithm, steps)
        assert shorter is not None
        meant = _run(engine, replace(work, phase=shorter.phases(problem)[number], steps=steps))
        got = _run(engine, replace(work, steps=steps))
        expect(
            _same(_parts(got), _parts(meant)),
            f"{_name(work.phase)} truncated to {steps} steps is not what {steps} steps give; the "
            "first steps must not depend on how many follow",
        )


def _shorter(algorithm: Algorithm[Any], steps: int) -> Algorithm[Any] | None:
    """The same algorithm, or what it wraps, configured to do so many steps, if it can be."""
    known: set[str] = {f.name for f in fields(algorithm)} if is_dataclass(algorithm) else set()
    made: Any = algorithm
    if "steps" in known:
        return replace(made, steps=steps)  # type: ignore[no-any-return]
    inner = _shorter(made.algorithm, steps) if "algorithm" in known else None
    return None if inner is None else replace(made, algorithm=inner)


def _check_step(
    phase: Phase[Any, Any, Any], state: Any, payload: Any, downloads: Sequence[Any], everyone: Any
) -> Any:
    weights = np.full(len(everyone), 1 / len(everyone))
    before = map_leaves(np.copy, state)
    made = []
    for download, stale in zip([downloads[0], *downloads], (False, False, True), strict=True):
        arrivals = Arrivals(
            clients=everyone,
            payload=payload,
            download=spread(download, len(everyone)),
            versions=np.zeros(len(everyone), dtype=np.int64),
            stale=np.full(len(everyone), stale),
        )
        new, metrics = phase.step(state, arrivals, weights)
        _check_metrics(metrics)
        expect(_same(before, state), f"{_name(phase)}: step changed the state passed to it")
        expect(finite(new), f"{_name(phase)}: step gave a state that is not finite")
        made.append(new)
    expect(_same(made[0], made[1]), f"{_name(phase)}: step gave two states for the same arrivals")
    return made[0]


def _check_sizes(phase: Phase[Any, Any, Any], download: Any, everyone: Any) -> None:
    size, declared = nbytes(phase.received(download)), phase.download_bytes()
    expect(
        size == declared,
        f"{_name(phase)} sends {size} bytes down to a client; download_bytes says {declared}",
    )
    samples = phase.samples(everyone, 0)
    expect(
        samples.shape == everyone.shape and bool((samples >= 0).all()),
        f"{_name(phase)}: samples returned {samples}; wanted a number from 0 for each client",
    )
    expect(
        _same(samples[::-2], phase.samples(everyone[::-2], 0)),
        f"{_name(phase)}: the samples of a client depend on who else is asked for",
    )
    expect(phase.steps >= 1, f"{_name(phase)} has {phase.steps} steps; wanted at least 1")


def _check_memory(phase: Phase[Any, Any, Any], fresh: Any, memory: Any) -> None:
    def kind(fresh: Any, kept: Any) -> Any:
        expect(
            kept.shape[1:] == np.shape(fresh) and kept.dtype == np.asarray(fresh).dtype,
            f"{_name(phase)} returned memories of {kept.dtype} {kept.shape[1:]}; the first one is "
            f"{np.asarray(fresh).dtype} {np.shape(fresh)}",
        )
        return kept

    expect(memory is not None, f"{_name(phase)} returned no memory; return the one it was given")
    map_leaves(kind, fresh, memory)


def _check_close(
    name: str, one: LocalResult[Any], many: LocalResult[Any], tolerance: float
) -> None:
    for a, b in zip(leaves(_parts(one)), leaves(_parts(many)), strict=True):
        scale = max(1.0, float(np.abs(b).max(initial=0.0)))
        off = a != b if a.dtype == bool else np.abs(a - b)
        worst = float(off.max(initial=0)) / scale
        expect(
            a.shape == b.shape and worst <= tolerance,
            f"{name}: one client at a time the result differs by {worst:.1e} from the stacked one "
            f"(tolerance {tolerance:.0e})",
        )


def _check_metrics(metrics: Mapping[str, Any]) -> None:
    wrong = {k: v for k, v in metrics.items() if not isinstance(v, float)}
    expect(not wrong, f"metrics are floats; got {wrong}")


def _run(engine: Engine, work: Stack) -> LocalResult[Any]:
    """Run on copies, and see that they were left as they were."""
    given = _copied(work)
    result = engine.run(given)
    expect(
        _same(given.downloads, work.downloads) and _same(given.memory, work.memory),
        f"{_name(work.phase)} changed the download or the memory in place",
    )
    return result


def _copied(work: Stack) -> Stack:
    downloads = [map_leaves(np.copy, d) for d in work.downloads]
    return replace(work, downloads=downloads, memory=map_leaves(np.copy, work.memory))


def _parts(result: LocalResult[Any]) -> list[Any]:
    return [result.payload, result.memory, dict(result.metrics)]


def _through_snapshot(tree: Any) -> Any:
    arrays: dict[str, Any] = {}
    return decode(encode(tree, arrays), arrays)


def _same(a: Any, b: Any) -> bool:
    """Return whether two trees are equal bit for bit."""
    pairs = zip(leaves(a), leaves(b), strict=True)
    return all(
        x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in pairs
    )


def _name(phase: Phase[Any, Any, Any]) -> str:
    return type(phase).__name__

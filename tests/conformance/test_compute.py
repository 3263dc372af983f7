"""Every registered engine gives each client's own results, whoever shares the stack."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.rfedags import RFedAGS
from driftfold.compute.base import Compute, Stack
from driftfold.compute.debug import Debug
from driftfold.compute.loop import Loop
from driftfold.compute.stacked import Stacked
from driftfold.data import GaussianBlocks
from driftfold.registry import kind_of, kinds
from driftfold.rng import Seed
from driftfold.tasks import Pca
from driftfold.tasks.base import Problem
from driftfold.trees import leaves
from tests.world.toys import Quadratic, TwoPhase

EXAMPLES: list[Compute] = [
    Loop(), Debug(), Stacked(), Stacked(tile=1), Stacked(tile=4), Stacked(tile_bytes=1),
]  # fmt: skip
BLOCKS = GaussianBlocks(clients=9, samples=7, dimension=5)


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind for kind, cls in kinds("compute").items() if cls.__module__.startswith("driftfold.")
    }
    assert shipped == {kind_of(compute) for compute in EXAMPLES}


def work_of(problem: Problem, algorithm: Any, clients: Any, dispatches: Any) -> Stack:
    phase = algorithm.phases(problem)[-1]
    state = algorithm.begin(problem, problem.initial_point())
    fresh = algorithm.memory(problem)
    memory: Any = None
    if fresh is not None:
        momentum = np.arange(9.0)[clients, None] * np.ones(fresh.momentum.shape)
        memory = type(fresh)(momentum, np.arange(9)[clients])
    download = phase.broadcast(state, 0)
    return Stack(
        phase, phase.steps, clients, dispatches, np.zeros(len(clients)), [download], True, memory
    )


@pytest.mark.parametrize("compute", EXAMPLES, ids=repr)
@pytest.mark.parametrize("case", ["pca", "quadratic"])
def test_company_and_order_change_nothing(compute: Compute, case: str) -> None:
    problem: Problem = (Pca(data=BLOCKS, rank=2) if case == "pca" else Quadratic(9)).build(Seed(1))
    algorithm = RFedAGS(3, 2) if case == "pca" else TwoPhase()
    engine = compute.engine(problem)
    everyone, dispatches = np.arange(9), np.arange(9) * 5
    whole = engine.run(work_of(problem, algorithm, everyone, dispatches))
    for some in (everyone[2:4], everyone[::2], everyone[8:], everyone[:1]):
        part = engine.run(work_of(problem, algorithm, some, dispatches[some]))
        for a, b in zip(_all(part), _all(whole), strict=True):
            assert a.shape[:1] == some.shape
            assert a.tobytes() == b[some].tobytes()
    again = engine.run(work_of(problem, algorithm, everyone, dispatches))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(_all(again), _all(whole), strict=True))


@pytest.mark.parametrize("compute", EXAMPLES, ids=repr)
def test_dispatches_address_the_randomness(compute: Compute) -> None:
    problem = Pca(data=BLOCKS, rank=2).build(Seed(1))
    engine, everyone = compute.engine(problem), np.arange(9)
    one = engine.run(work_of(problem, RFedAGS(3, 2), everyone, everyone)).payload.vector
    two = engine.run(work_of(problem, RFedAGS(3, 2), everyone, everyone[::-1])).payload.vector
    assert one[4].tobytes() == two[4].tobytes()
    assert all((one[i] != two[i]).any() for i in everyone if i != 4)


def _all(result: Any) -> list[Any]:
    return leaves([result.payload, result.memory, dict(result.metrics)])

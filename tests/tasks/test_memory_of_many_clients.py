"""Memory of set-up and local work: data, three stacked models, and nothing else of that size."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.rfedags import RFedAGS
from driftfold.combinations.aggregation import weighted_sum
from driftfold.compute.base import Stack
from driftfold.compute.stacked import StackedEngine
from driftfold.data import GaussianBlocks, WrappedNormal
from driftfold.rng import Seed
from driftfold.tasks.base import Task
from driftfold.tasks.hyperbolic_frechet_mean import HyperbolicFrechetMean
from driftfold.tasks.pca import Pca

CLIENTS = 4000
WORKING = 3e6  # bytes of tiles in work, whatever the number of clients
LISTS = 100 * CLIENTS  # bytes of ids, sizes and importances


def lorentz(clients: int) -> Task:
    return HyperbolicFrechetMean(data=WrappedNormal(clients, samples=50))


def pca(clients: int) -> Task:
    return Pca(data=GaussianBlocks(clients=clients, samples=30, dimension=20), rank=3)


def two_rounds(task: Task) -> Any:
    problem: Any = task.build(Seed(1))
    x = problem.initial_point()
    problem.objective(x)
    algorithm = RFedAGS(steps=2, step_size=0.05)
    phase = algorithm.phases(problem)[0]
    engine = StackedEngine(problem, 64)
    ids = np.arange(problem.fleet.size)
    for number in range(2):
        sent = [phase.broadcast(algorithm.begin(problem, x), number)]
        work = Stack(
            phase, phase.steps, ids, np.full_like(ids, number), np.zeros(len(ids)), sent, True, None
        )
        vectors = engine.run(work).payload.vector
        x = problem.manifold.retract(x, -weighted_sum(problem.fleet.importance, vectors))
    return problem


@pytest.mark.parametrize("kind", [lorentz, pca])
def test_little_is_held_beside_data_and_three_stacked_models(
    kind: Callable[[int], Task],
) -> None:
    """Second moments that a kernel reads in place of the samples count as data, too."""
    two_rounds(kind(2))  # what is imported on first use is no memory of clients
    tracemalloc.start()
    try:
        problem = two_rounds(kind(CLIENTS))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    data = problem.data.x.nbytes
    moments = problem.kernel_data("full").matrices
    data += 0 if moments is None else moments().nbytes
    assert peak < data + 3 * CLIENTS * problem.point_bytes + LISTS + WORKING

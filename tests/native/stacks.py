"""The same stack of local work, by a kernel and in the plain NumPy form."""

from dataclasses import replace
from typing import Any

import numpy as np

from driftfold.algorithms.base import Phase
from driftfold.algorithms.local_steps import ServerPoint
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.arrays import Array, Ints
from driftfold.compute.base import Stack
from driftfold.compute.fused import fused
from driftfold.compute.stacked import StackedEngine
from driftfold.rng import Seed
from driftfold.tasks.base import Problem
from driftfold.tasks.batch_size import BatchSize


def phase_of(
    problem: Problem, descent: str, batch: BatchSize = "full", alpha: float = 0.05, steps: int = 4
) -> Phase[Any, Any, Any]:
    kind = RFedAGS if descent == "stream" else RFedAvg
    return kind(steps=steps, batch=batch, step_size=alpha).phases(problem)[0]


def work(
    problem: Problem, phase: Phase[Any, Any, Any], clients: Ints, start: Array | None = None
) -> Stack:
    """Work of `clients`, from one start or, shape (N, *shape), from that of each."""
    x = problem.initial_point() if start is None else start
    shared = x.ndim == len(problem.manifold.shape)
    download = phase.broadcast(ServerPoint(x if shared else x[0]), 0)
    downloads = [download] if shared else [replace(download, point=x[c]) for c in clients]
    return Stack(
        phase,
        phase.steps,
        clients,
        3 * clients + 1,
        np.zeros(len(clients)),
        downloads,
        shared,
        None,
    )


def by_kernel(problem: Problem, stack: Stack) -> Array:
    kernel = fused(problem, stack.phase)
    assert kernel is not None, "the table has no kernel for this"
    result, refused = kernel.run(stack)
    assert not refused.any()
    return sent(result)


def plain(problem: Problem, stack: Stack) -> Array:
    return sent(StackedEngine(problem, 64, kernels=False).run(stack))


def sent(result: Any) -> Array:
    payload = result.payload
    return payload.vector if hasattr(payload, "vector") else payload.point


def starts(problem: Problem, seed: int) -> Array:
    """A random point for each client."""
    ids = np.arange(problem.fleet.size)
    points: Array = problem.manifold.random_point(Seed(seed).stream("starts"), ids)
    return points.astype(problem.initial_point().dtype)


# In float32 one pass of Cholesky's factorisation may lose a hundred eps, for the longest steps.
TOLERANCE = {"float64": 1e-12, "float32": 3e-5}


def agree(
    problem: Problem, descent: str, batch: Any, steps: int, own_start: bool, precision: str
) -> None:
    """Check that a kernel and the plain form send the same."""
    phase = phase_of(problem, descent, batch, steps=steps)
    start = starts(problem, 5) if own_start else None
    stack = work(problem, phase, np.arange(problem.fleet.size), start)
    wanted, got = plain(problem, stack), by_kernel(problem, stack)
    assert got.dtype == wanted.dtype == np.dtype(precision)
    scale = max(np.abs(wanted).max(), 1e-3)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=TOLERANCE[precision] * scale)

"""Streams of K steps on every manifold, one client at a time, against the published loop."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import RFedAGS
from driftfold.arrays import Array
from driftfold.manifolds import Manifold
from driftfold.rng import Seed
from driftfold.trees import spread
from tests.algorithms.scattered import MANIFOLDS, Scattered

K, B, ALPHA = 4, 2, 0.3


def stream(problem: Any, client: int, x: Array, reduced: bool) -> Array:
    """zeta = sum_k alpha T_{x_k -> x}(g_k): from the point before each step, not after it."""
    manifold = problem.manifold
    view = problem.view(np.array(client), np.array(0))
    full = view.gradient(x, view.everything())
    y, zeta = x, np.zeros_like(x)
    for k, batch in enumerate(view.batches(B, K)):
        g = view.gradient(y, batch)
        if reduced:
            off = view.gradient(x, batch) - full
            g = g - (manifold.transport(x, y, off) if k else off)
        zeta = zeta + ALPHA * (manifold.transport(y, x, g) if k else g)
        y = manifold.retract(y, -ALPHA * g)
    return zeta


@pytest.mark.parametrize("reduced", [False, True], ids=["plain", "variance_reduced"])
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_a_stack_of_clients_sends_the_published_streams(manifold: Manifold, reduced: bool) -> None:
    problem = Scattered(manifold).build(Seed(8))
    x, everyone = problem.initial_point(), np.arange(problem.fleet.size)
    algorithm = RFedAGS(steps=K, batch=B, step_size=ALPHA, variance_reduced=reduced)
    (phase,) = algorithm.phases(problem)
    download = spread(phase.broadcast(algorithm.begin(problem, x), 0), len(everyone))
    view = problem.view(everyone, np.zeros_like(everyone))
    sent = phase.local(download, view, None, K).payload.vector
    wanted = np.stack([stream(problem, int(client), x, reduced) for client in everyone])
    np.testing.assert_allclose(sent, wanted, rtol=0, atol=1e-12)

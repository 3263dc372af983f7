"""FedAWE: a run against a plain loop, and what it is without any probabilities."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import FedAWE, RFedAGS
from driftfold.algorithms.base import Algorithm
from driftfold.arrays import Floats
from driftfold.manifolds import Euclidean, Manifold, Sphere
from driftfold.participation import Bernoulli
from driftfold.participation.independent import IndependentResponses
from driftfold.result import Result
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import JobSpec
from driftfold.world.policy import Horizon
from tests.algorithms import textbook
from tests.algorithms.scattered import Scattered
from tests.algorithms.test_server_memory import carry, go

P = (0.3, 0.9, 0.5, 0.1, 0.6)


def made(algorithm: Algorithm[Any], manifold: Manifold, rounds: int) -> Result:
    spec = JobSpec(
        task=Scattered(manifold),
        algorithm=algorithm,
        participation=Bernoulli(p=P),
        horizon=Horizon(rounds=rounds),
        evaluate_every=rounds,
        seed=4,
    )
    return run(spec)


def way(manifold: Manifold, x: Any, y: Any) -> Any:
    return textbook.sphere_log(x, y) if isinstance(manifold, Sphere) else y - x


@pytest.mark.parametrize("manifold", [Euclidean(4), Sphere(4)], ids=repr)
def test_a_run_is_the_plain_loop(manifold: Manifold) -> None:
    """K = 3 full gradients of f_i = mean of dist(x, y_ij)^2 / 2 from each client's own point."""
    rule, rounds = FedAWE(steps=3, step_size=0.1, echo=0.5), 12
    problem = Scattered(manifold).build(Seed(4))
    attendance = Bernoulli(p=P).attend(problem.fleet)
    assert isinstance(attendance, IndependentResponses)
    x = problem.initial_point()
    own, last = [x] * 5, [-1] * 5
    for t in range(rounds):
        came = np.flatnonzero(attendance.responds(np.arange(5), t))
        echoes = []
        for i in came:
            z, zeta = own[i], np.zeros(4)
            for k in range(3):
                g = -0.1 * np.mean([way(manifold, z, y) for y in problem.targets[i]], axis=0)
                zeta = zeta + (g if k == 0 else carry(manifold, z, own[i], g))
                z = go(manifold, z, -g)
            echoes.append(go(manifold, own[i], -0.5 * (t - last[i]) * zeta))
        if echoes:
            v = np.mean([way(manifold, x, y) for y in echoes], axis=0)
            x = x if not v.any() else go(manifold, x, v)
        for i in came:
            own[i], last[i] = x, t
    result = made(rule, manifold, rounds)
    # Rounding of some thousand operations on numbers near 1.
    np.testing.assert_allclose(result.model, x, rtol=0, atol=1e-11)
    assert np.linalg.norm(x - problem.initial_point()) > 0.2


def test_down_goes_the_model_at_the_end_only() -> None:
    """Seven numbers of 8 bytes to each responder: step size, t, and then x and t; one point up."""
    result = made(FedAWE(steps=1), Euclidean(4), 3)
    arrived = result.counts["arrived"] // 2  # once in each phase
    assert result.counts["bytes_down"] == arrived * 8 * (1 + 1 + 4 + 1)
    assert result.counts["bytes_up"] == arrived * 8 * 4


@pytest.mark.slow
def test_it_needs_no_probabilities_to_find_the_optimum() -> None:
    """The mean over four late rounds, flat: nearer by far than that of an uncorrected mean."""

    def off(algorithm: Algorithm[Any]) -> float:
        ends: list[Floats] = [made(algorithm, Euclidean(4), n).model for n in range(400, 800, 100)]
        optimum = Scattered(Euclidean(4)).build(Seed(4)).minimise()
        return float(np.linalg.norm(np.mean(ends, axis=0) - optimum))

    assert off(FedAWE(steps=2, step_size=0.01)) < 0.4 * off(RFedAGS(steps=2, step_size=0.01))

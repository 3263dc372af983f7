"""Rates that change from one local step to the next, against loops by hand."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.nets import Mlp
from driftfold.nets.losses import entropy
from driftfold.rates import DoG, FixedRate, Hypergradient, Rate
from driftfold.risks import Entropy
from driftfold.tasks.streams import Pretraining, StreamProblem
from driftfold.trees import spread
from tests.algorithms.adaptation.streams import Rounds, small

PROBLEM = small(clients=2)
START = PROBLEM.source.start
P = len(START)
RNG = np.random.default_rng(5)
THETAS = START + 0.1 * RNG.normal(size=(6, 2, P)) * np.arange(6)[:, None, None]
GRADIENTS = RNG.normal(size=(6, 2, P))


def sizes(rate: Rate, problem: StreamProblem = PROBLEM) -> Floats:
    """eta of six local steps at given points along given gradients, (6, 2)."""
    memory: Any = spread(rate.begin(problem), 2)
    made = []
    for theta, g in zip(THETAS, GRADIENTS, strict=True):
        eta, memory = rate.size(problem, np.zeros(2), memory, theta, g)
        made.append(eta)
    return np.array(made)


@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_distance_over_gradients(discount: float) -> None:
    got = sizes(DoG(discount=discount))
    for client in range(2):
        reach, squares = 1e-6 * (1 + float(np.linalg.norm(START))), 0.0
        for s in range(6):
            reach = max(reach, float(np.linalg.norm(THETAS[s, client] - START)))
            squares = discount * squares + float((GRADIENTS[s, client] ** 2).sum())
            np.testing.assert_allclose(got[s, client], reach / np.sqrt(squares), rtol=1e-12)


def test_a_bound_is_kept() -> None:
    plain = sizes(DoG(discount=0.5))
    middle = float(np.median(plain))
    np.testing.assert_array_equal(
        sizes(DoG(discount=0.5, largest=middle)), np.minimum(plain, middle)
    )


def test_it_begins_anew_where_the_client_is() -> None:
    got = sizes(DoG(initial=0.01, recentre=2))
    for client in range(2):
        for s in range(6):
            first = s - s % 2
            far = np.linalg.norm(THETAS[s, client] - THETAS[first, client]) if s % 2 else 0.0
            if s < 2:
                far = np.linalg.norm(THETAS[: s + 1, client] - START, axis=1).max()
            norms = np.linalg.norm(GRADIENTS[first : s + 1, client], axis=1)
            wanted = max(0.01, far) / np.sqrt((norms**2).sum())
            np.testing.assert_allclose(got[s, client], wanted, rtol=1e-12)


def test_the_first_distance_is_larger_with_batch_normalisation() -> None:
    """1e-6 and 1e-4 times 1 + ||theta_0||, whose running statistics do not count."""
    normed = small(clients=2, net=Mlp((12, 8), batch_norm=True))
    for problem, factor in ((PROBLEM, 1e-6), (normed, 1e-4)):
        start = problem.source.start[~problem.model.layout.buffers]
        wanted = factor * (1 + np.linalg.norm(start))
        np.testing.assert_allclose(DoG().begin(problem).reach, wanted, rtol=1e-14)


def test_no_gradient_no_step() -> None:
    memory = spread(DoG().begin(PROBLEM), 1)
    eta, memory = DoG().size(PROBLEM, np.zeros(1), memory, START[None], np.zeros((1, P)))
    assert eta.tolist() == [0.0]
    assert memory.anchor.shape == (1, 0)  # theta_0 is everybody's


def test_hypergradients() -> None:
    rule = Hypergradient(start=0.3, beta=0.005, low=0.05, high=0.6)
    got = sizes(rule)
    for client in range(2):
        eta, before = 0.3, np.zeros(P)
        for s in range(6):
            eta = min(0.6, max(0.05, eta + 0.005 * float(GRADIENTS[s, client] @ before)))
            before = GRADIENTS[s, client]
            np.testing.assert_allclose(got[s, client], eta, atol=1e-13)
    assert len(set(got[:, 0].tolist())) >= 4


def test_a_start_outside_the_bounds_is_refused() -> None:
    with pytest.raises(SpecError, match="starts between its bounds"):
        Hypergradient(start=2.0).begin(PROBLEM)


def test_a_hypergradient_that_does_not_move_is_a_fixed_rate() -> None:
    """beta so small that eta + beta g . g' is eta; the way through all parameters to 1e-14."""
    rates = (Hypergradient(start=0.2, beta=1e-30), FixedRate(0.2))
    runs = [Rounds(FedADE(risk=Entropy(), rate=rate), PROBLEM) for rate in rates]
    for step in range(2):
        for rounds in runs:
            rounds.round(step)
    for one, two in ((r.memory.personal, r.state.theta) for r in runs[1:]):
        np.testing.assert_allclose(runs[0].memory.personal, one, atol=1e-14)
        np.testing.assert_allclose(runs[0].state.theta, two, atol=1e-14)


def test_distance_over_gradients_within_fed_ade() -> None:
    """One client by hand: two steps on everything, then two on the head, of theta all the time."""
    problem = small(clients=1)
    start = problem.source.start
    rounds = Rounds(FedADE(risk=Entropy(), rate=DoG(initial=0.05)), problem)
    rounds.round(0)
    own = problem.model.layout.where(["head"])
    view = problem.view(rounds.everyone, rounds.everyone, 0.0)
    theta, reach, squares = start[None].copy(), 0.05, 0.0
    for s in range(4):
        made = problem.model.forward(theta, view.inputs)
        g = made.pullback(entropy(made.logits)[1] / 20)
        g[:, ~own] *= s < 2
        reach = max(reach, float(np.linalg.norm(theta - start)))
        squares += float((g**2).sum())
        theta = theta - reach / np.sqrt(squares) * g
    np.testing.assert_allclose(rounds.memory.personal, theta[:, own], atol=1e-12)
    np.testing.assert_allclose(rounds.state.theta[~own], theta[0, ~own], atol=1e-12)
    met = rounds.round(1)[0].metrics["rate"]
    np.testing.assert_allclose(met, reach / np.sqrt(squares), rtol=1e-12)


def test_an_untrained_net_may_be_stepped_on() -> None:
    lazy = small(clients=1, pretraining=Pretraining(epochs=1, rate=1e-6))
    rounds = Rounds(FedADE(risk=Entropy(), rate=DoG(discount=0.99, recentre=3)), lazy)
    for step in range(3):
        rounds.round(step)
    assert np.isfinite(rounds.memory.personal).all()
    assert rounds.memory.of_rate.steps.tolist() == [3]

"""Weights 1 / (p_i N), or estimates of them, with every baseline: what the round's step means.

T3 of the theory for algorithms: over all cohorts, the mean of the server's step is the step of full
participation where the probabilities are known, and sum_i p_i w_i u_i for weights w_i that clients
have of their own. It holds in each round for the vectors u_i that clients send in it. Not for
RFedSVRG as a whole, whose two exchanges share the draw (below), nor for RFedProj over several
rounds, whose clients' corrections depend on who came before.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.base import Algorithm, Arrivals
from driftfold.algorithms.fedavg import FedAvg
from driftfold.algorithms.rfed_frechet import RFedFrechet
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.algorithms.rfedproj import RFedProj
from driftfold.algorithms.rfedprox import RFedProx
from driftfold.algorithms.rfedsvrg import RFedSVRG
from driftfold.algorithms.zo_rfedproj import ZoRFedProj
from driftfold.data import GaussianBlocks
from driftfold.estimators import Capped, Estimator, Hajek, Inclusive, Oracle, Past
from driftfold.manifolds import InvertibleRetraction, Stiefel
from driftfold.participation import Bernoulli
from driftfold.rng import Seed
from driftfold.tasks import Pca
from driftfold.trees import rows, spread
from tests.world.toys import Quadratic

P = (0.9, 0.5, 0.2, 0.7)
N = len(P)
EVERYONE = np.arange(N)
CURVED = Pca(data=GaussianBlocks(N, 8, 5), rank=2, manifold=Stiefel(2, 5, "polar")).build(Seed(6))
FLAT = Quadratic(clients=N).build(Seed(6))
LOCAL: dict[str, Any] = {"steps": 2, "batch": 3, "step_size": 0.02}
BASELINES: list[tuple[Algorithm[Any], Any]] = [
    (RFedAGS(**LOCAL), CURVED),
    (RFedAvg(**LOCAL, server_map="retraction"), CURVED),
    (RFedProx(**LOCAL, server_map="retraction"), CURVED),
    (RFedSVRG(**LOCAL, server_map="retraction"), CURVED),
    (RFedProj(**LOCAL), CURVED),
    (ZoRFedProj(**LOCAL), CURVED),
    (RFedFrechet(**LOCAL, server_map="retraction", iterations=1), CURVED),
    (RFedFrechet(**LOCAL), FLAT),
    (FedAvg(**LOCAL), FLAT),
]
ESTIMATORS: list[Estimator[Any]] = [Oracle(), Inclusive(), Past(), Capped(Oracle(), 3.0)]


class LastExchange:
    """What all clients send in the last phase of one round, and where the server goes from it."""

    def __init__(self, algorithm: Algorithm[Any], problem: Any) -> None:
        self.problem, self.start = problem, problem.initial_point()
        self.state = algorithm.begin(problem, self.start)
        fresh = algorithm.memory(problem)
        memory = None if fresh is None else spread(fresh, N)
        for self.phase in algorithm.phases(problem):
            self.download = spread(self.phase.broadcast(self.state, 0), N)
            view = problem.view(EVERYONE, EVERYONE)
            self.sent = self.phase.local(self.download, view, memory, self.phase.steps).payload
            before = self.state
            self.state = self._next(EVERYONE, problem.fleet.importance)
        self.state = before

    def step(self, members: Any, weights: Any) -> Any:
        """Tangent vector of the server's step, or the way in the surrounding space."""
        new = self._next(members, weights)
        if hasattr(new, "ambient"):
            return new.ambient - self.start
        manifold = self.problem.manifold
        assert isinstance(manifold, InvertibleRetraction)
        return manifold.inverse_retract(self.start, new.point)

    def _next(self, members: Any, weights: Any) -> Any:
        arrivals: Arrivals[Any, Any] = Arrivals(
            members,
            rows(self.sent, members),
            rows(self.download, members),
            0 * members,
            members < 0,
        )
        return self.phase.step(self.state, arrivals, weights)[0]


def history(rule: Estimator[Any], problem: Any) -> Any:
    """The estimator's state after four rounds, in which each client came once or more."""
    state = rule.begin(problem.fleet, Bernoulli(p=P).attend(problem.fleet))
    for t, came in enumerate(([0, 1, 2, 3], [0, 3], [0, 1], [0]), start=1):
        _, state = rule.weigh(state, problem.fleet, np.array(came), t)
    return state


def cohorts() -> Any:
    """All cohorts but the empty one, which leaves the model where it is, with their chances."""
    for came in product((False, True), repeat=N):
        if any(came):
            yield np.flatnonzero(came), float(np.prod(np.where(came, P, 1 - np.array(P))))


@pytest.mark.parametrize("rule", ESTIMATORS, ids=repr)
@pytest.mark.parametrize(("algorithm", "problem"), BASELINES, ids=lambda it: type(it).__name__)
def test_the_mean_step_is_the_weighted_one(
    algorithm: Algorithm[Any], problem: Any, rule: Estimator[Any]
) -> None:
    """Exactly, over all 15 cohorts; the way there and back through the retraction is rounding."""
    exchange, state = LastExchange(algorithm, problem), history(rule, problem)
    total = 0.0
    for members, chance in cohorts():
        weights, _ = rule.weigh(state, problem.fleet, members, 5)
        total = total + chance * exchange.step(members, weights)
    own, _ = rule.weigh(state, problem.fleet, EVERYONE, 5)
    np.testing.assert_allclose(total, exchange.step(EVERYONE, P * own), rtol=0, atol=1e-13)
    full = exchange.step(EVERYONE, problem.fleet.importance)
    assert (np.abs(total - full).max() < 1e-13) == isinstance(rule, Oracle)
    assert np.abs(full).max() > 1e-3


def test_iterated_frechet_means_are_unbiased_up_to_curvature() -> None:
    """The way to the mean is not linear in the weights; what remains is of third order in it.

    Half the step, an eighth of the bias.
    """
    off: list[Any] = []
    for alpha in (0.02, 0.01):
        algorithm = RFedFrechet(2, 3, alpha, server_map="retraction", tolerance=1e-15)
        exchange = LastExchange(algorithm, CURVED)
        mean = sum(
            chance * exchange.step(members, 1 / (N * np.array(P)[members]))
            for members, chance in cohorts()
        )
        full = exchange.step(EVERYONE, np.full(N, 1 / N))
        off.append(np.linalg.norm(mean - full))
        assert off[-1] < 1e-3 * np.linalg.norm(full)
    assert 7 < off[0] / off[1] < 9


def test_rfedsvrg_counts_rare_clients_a_little_more_than_once() -> None:
    """Its mean gradient and its mean step come from one draw, whose weights multiply.

    E[(sum_i w_i) sum_j w_j g_j] = sum_j g_j / N (1 + (1/p_j - 1) / N): right as N grows.
    """
    g = np.random.default_rng(1).normal(size=(N, 3))
    total = 0.0
    for members, chance in cohorts():
        weights = 1 / (N * np.array(P)[members])
        total = total + chance * weights.sum() * (weights @ g[members])
    extra = (1 / np.array(P) - 1) / N
    np.testing.assert_allclose(total, (1 + extra) @ g / N, rtol=1e-12)


@pytest.mark.parametrize(("algorithm", "problem"), BASELINES, ids=lambda it: type(it).__name__)
def test_self_normalised_weights_lead_to_the_mean_of_who_came(
    algorithm: Algorithm[Any], problem: Any
) -> None:
    """One who comes alone leads where its own work led, however rare; not so the plain weights."""
    exchange, alone = LastExchange(algorithm, problem), np.array([2])
    steps = [
        exchange.step(alone, rule.weigh(history(rule, problem), problem.fleet, alone, 5)[0])
        for rule in (Hajek(Oracle()), Oracle())
    ]
    np.testing.assert_allclose(steps[0], exchange.step(alone, np.ones(1)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(steps[1], steps[0] / (N * P[2]), rtol=0, atol=1e-13)

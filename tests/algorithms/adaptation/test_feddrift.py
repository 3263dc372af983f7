"""FedDrift: who gets a model of its own, which models are joined, and whose steps train which."""

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedDrift
from driftfold.algorithms.adaptation.feddrift import BEST, KEEP, NEW, Told
from driftfold.algorithms.adaptation.joining import joined
from driftfold.drift import LabelSwaps
from driftfold.drift.schedules import Step
from driftfold.risks import Labelled, Scene, Truth
from driftfold.tasks.streams import Pretraining, StreamProblem
from tests.algorithms.adaptation.streams import Rounds, small


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small(drift=())


def far(distances: list[tuple[int, int, float]], count: int) -> np.ndarray:
    """Losses by which models are so far apart: L_ii = 1."""
    losses = np.full((count, count), 9.0)
    np.fill_diagonal(losses, 1.0)
    for i, j, distance in distances:
        losses[i, j] = losses[j, i] = 1 + distance
    return losses


def test_linkage_is_complete() -> None:
    """0-1 at 0.1, 1-2 at 0.2, 0-2 at 0.6: 2 is within delta of 1, but not of the pair."""
    everything = np.ones(3, dtype=bool)
    losses = far([(0, 1, 0.1), (1, 2, 0.2), (0, 2, 0.6)], 3)
    assert [g.tolist() for g in joined(losses, np.arange(3), everything, 0.5)] == [[0, 1]]
    assert [g.tolist() for g in joined(losses, np.arange(3), everything, 0.7)] == [[0, 1, 2]]
    without = np.array([True, False, True])
    assert joined(losses, np.arange(3), without, 0.5) == []


def test_distances_take_the_worse_way_and_means_over_clients() -> None:
    """L_01 - L_00 = 0.1; L_10 - L_11 = mean(1.0, 0.2) - 0.2 = 0.4: apart 0.4, not 0.1."""
    losses = np.array([[0.5, 0.6], [1.0, 0.2], [0.2, 0.2]])
    has, both = np.array([0, 1, 1]), np.ones(2, dtype=bool)
    assert joined(losses, has, both, 0.39) == []
    assert [g.tolist() for g in joined(losses, has, both, 0.41)] == [[0, 1]]
    assert joined(losses, np.array([0, 0, 0]), both, 9.0) == []


def told(rounds: Rounds, wishes: list[int], losses: np.ndarray) -> None:
    rounds.take(0, Told(losses, np.array(wishes)))


def test_models_are_given_and_joined_by_size(problem: StreamProblem) -> None:
    """By hand: client 1 gets slot 1; a step later it is joined, 30 : 10."""
    rounds = Rounds(FedDrift(models=3), problem)
    rounds.work(0, 0)
    told(rounds, [BEST, NEW, BEST, KEEP], np.ones((4, 3)))
    assert rounds.state.which.tolist() == [0, 1, 0, 0]
    assert rounds.state.sizes.tolist() == [0, 0, -1]
    first, second = rounds.state.thetas[0] + 1, rounds.state.thetas[0] - 3
    thetas = rounds.state.thetas.copy()
    thetas[:2] = first, second
    rounds.state = type(rounds.state)(thetas, np.array([30.0, 10.0, -1.0]), rounds.state.which)
    told(rounds, [KEEP] * 4, np.zeros((4, 3)))
    assert rounds.state.sizes.tolist() == [30, 10, -1]
    losses = np.tile([1.0, 1.2, 0.0], (4, 1))
    losses[1] = [1.1, 0.9, 0.0]  # it keeps model 1, which is 0.2 from model 0 both ways
    told(rounds, [BEST] * 4, losses)
    assert rounds.state.which.tolist() == [0] * 4
    assert rounds.state.sizes.tolist() == [40, -1, -1]
    expected = 0.75 * first + 0.25 * second
    np.testing.assert_allclose(rounds.state.thetas[0], expected, rtol=0, atol=1e-14)


def test_where_no_place_is_left_the_best_one_stays(problem: StreamProblem) -> None:
    rounds = Rounds(FedDrift(models=2), problem)
    losses = np.tile([1.0, 5.0], (4, 1))
    told(rounds, [NEW, NEW, BEST, BEST], losses)
    assert rounds.state.which.tolist() == [1, 0, 0, 0]


def test_each_model_is_trained_by_its_own(problem: StreamProblem) -> None:
    """Means of the clients' own steps by the weights, each on its labels; to 1e-13."""
    rule = FedDrift(Labelled(3), steps=2, rate=0.2, models=3)
    rounds = Rounds(rule, problem)
    rounds.work(0, 0)
    told(rounds, [BEST, NEW, NEW, BEST], np.zeros((4, 3)))
    assert rounds.state.which.tolist() == [0, 1, 2, 0]
    start = rounds.state.thetas[0]
    rounds.take(1, rounds.work(1, 0).payload, np.array([0.1, 0.2, 0.4, 0.3]))
    ends = []
    for c in range(4):
        who = np.array([c])
        view = problem.view(who, who, 0.0)
        rows, _ = rule.risk.consider(problem, start[None], view, None)
        theta = start[None]
        for _ in range(2):
            theta = theta - 0.2 * rule.risk.slope(theta, Scene.of(problem, view), rows).gradient
        ends.append(theta[0])
    expected = [0.25 * ends[0] + 0.75 * ends[3], ends[1], ends[2]]
    np.testing.assert_allclose(rounds.state.thetas, expected, rtol=0, atol=1e-13)
    assert rounds.state.sizes.tolist() == [6, 3, 3]


def test_swaps_of_labels_are_found_and_told_apart() -> None:
    """All labels seen: two clients have the pair (1, 2), two (1, 7); each pair shares a model."""
    pairs = LabelSwaps(Step(), pairs=((1, 2), (1, 7)), bounds=(2, 4))
    trained = Pretraining(epochs=40, rate=1e-2)
    problem = small(drift=(pairs,), batch=40, pretraining=trained)
    rounds = Rounds(FedDrift(Truth(), rate=0.1, models=6), problem)
    drifted = [rounds.round(step)[0].metrics["drift"].tolist() for step in range(6)]
    assert drifted[:4] == [[0.0] * 4] * 3 + [[1.0] * 4]
    which = rounds.state.which
    assert which[0] == which[1] != which[2] == which[3]

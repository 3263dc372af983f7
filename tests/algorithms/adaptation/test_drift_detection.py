"""Detection of what no signal can see: labels that change their meaning."""

import numpy as np
import pytest

from driftfold.algorithms.adaptation import DriftDetection, FedADE
from driftfold.detectors import PageHinkley
from driftfold.drift import LabelSwaps
from driftfold.drift.schedules import Step
from driftfold.errors import SpecError
from driftfold.rates import Adaptive
from driftfold.risks import Entropy, Labelled
from driftfold.risks.labelled import labelled_rows
from driftfold.tasks.streams import Pretraining, StreamProblem
from tests.algorithms.adaptation.streams import Rounds, small

ALWAYS = PageHinkley(warm_up=1, delta=0.0, threshold=1e-9)
"""Alarm at any error after something right."""


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small(batch=50, steps=8)


def test_a_label_swap_leaves_inputs_predictions_features_and_s_alone() -> None:
    """Bit for bit what it is without the swap: S tells of noise alone, and accuracy falls."""
    swapped = small(drift=(LabelSwaps(Step()),), batch=50)
    usual = small(drift=(), batch=50)
    rule = FedADE(risk=Entropy(), rate=Adaptive())
    one, other = Rounds(rule, swapped), Rounds(rule, usual)
    fell = []
    for step in range(6):
        seen, unseen = one.round(step)[0], other.round(step)[0]
        for name in ("signal", "signal_0", "signal_1", "rate"):
            assert seen.metrics[name].tobytes() == unseen.metrics[name].tobytes()
        assert one.state.theta.tobytes() == other.state.theta.tobytes()
        fell.append(float((unseen.metrics["accuracy"] - seen.metrics["accuracy"]).mean()))
    assert fell[:3] == [0, 0, 0]
    assert min(fell[3:]) > 0.05


def test_on_drift_the_head_is_the_mean_and_the_rate_is_high(problem: StreamProblem) -> None:
    """Each step by hand, from what each has; to 1e-13."""
    rule = DriftDetection(Labelled(5), detector=ALWAYS, low=0.1, high=0.5, hold=2, steps=1)
    rounds = Rounds(rule, problem)
    own = problem.model.layout.where(["head"])
    hurry = np.zeros(4)
    for step in range(6):
        heads, mean = rounds.memory.personal, rounds.state.theta
        result = rounds.work(0, step)
        drifted = result.metrics["drift"] > 0
        for c in range(4):
            who = np.array([c])
            view = problem.view(who, who, np.array([step * problem.period]))
            theta = mean.copy()
            theta[own] = mean[own] if drifted[c] else heads[c]
            hurry[c] = step + 2 if drifted[c] else hurry[c]
            rate = 0.5 if step < hurry[c] else 0.1
            assert result.metrics["rate"][c] == rate
            rows = labelled_rows(problem, who, np.array([step]), 5)[0]
            made = problem.model.forward(theta, view.inputs[0, rows])
            p = np.exp(made.logits)
            slope = p / p.sum(axis=1, keepdims=True) - np.eye(10)[view.truth[0, rows]]
            theta = theta - rate * made.pullback(slope / 5)
            np.testing.assert_allclose(result.payload.theta[c], theta, rtol=0, atol=1e-13)
        rounds.take(0, result.payload)
        np.testing.assert_allclose(
            rounds.state.theta, result.payload.theta.mean(axis=0), rtol=0, atol=1e-13
        )
        rounds.rounds += 1
    assert set(result.metrics["rate"].tolist()) <= {0.1, 0.5}
    assert hurry.max() > 0


def test_a_batch_is_watched_once(problem: StreamProblem) -> None:
    rounds = Rounds(DriftDetection(), problem)
    for _ in range(3):
        rounds.round(0)
    assert rounds.memory.of_detector.count.tolist() == [5] * 4
    rounds.round(1)
    assert rounds.memory.of_detector.count.tolist() == [10] * 4


@pytest.mark.parametrize("swap", [True, False])
def test_swaps_are_found_and_nothing_else_is(swap: bool) -> None:
    """Ten labels a step; the swap at step 6 turns two classes of ten, so a fifth of the labels."""
    watching = PageHinkley(threshold=6.0)
    rule = DriftDetection(Labelled(10), budget=10, detector=watching, low=0.0, high=1e-3, hold=1)
    drift = (LabelSwaps(Step(at=(6,)), pairs=((1, 2),), bounds=(1,)),) if swap else ()
    trained = Pretraining(epochs=40, rate=1e-2)
    rounds = Rounds(rule, small(drift=drift, steps=20, clients=6, pretraining=trained))
    found = np.array([rounds.round(step)[0].metrics["drift"] for step in range(20)])
    assert not found[:7].any()
    assert found.any(axis=0).sum() == (6 if swap else 0)


def test_what_cannot_be_is_refused(problem: StreamProblem) -> None:
    with pytest.raises(SpecError, match="exchange them"):
        DriftDetection(low=2.0, high=1.0).check(problem)
    with pytest.raises(SpecError, match="budget of 51"):
        DriftDetection(budget=51).check(problem)

"""TENT and BN-adapt: what moves, by which rule, and which nets they refuse."""

import numpy as np
import pytest

from driftfold.algorithms.adaptation import Adaptation, BnAdapt, Tent
from driftfold.algorithms.adaptation.norm_exchange import NormAdaptation
from driftfold.errors import CapabilityError
from driftfold.nets import Mlp
from driftfold.nets.base import Mode
from driftfold.tasks.streams import StreamProblem
from tests.algorithms.adaptation.streams import Rounds, small


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small(net=Mlp((12, 8), batch_norm=True, dropout=0.2))


def test_tent_is_adam_on_scale_and_shift_alone(problem: StreamProblem) -> None:
    """Two steps of one client, entropy and its gradient by differences, to 1e-6 of the gradient."""
    rounds = Rounds(Tent(rate=0.01, entropy_steps=2), problem)
    rounds.round(0)
    model, x = problem.model, problem.view(np.arange(1), np.zeros(1, int)).inputs[0]
    layout = model.layout
    places = np.flatnonzero(layout.where(["body.0.norm", "body.1.norm"]) & ~layout.buffers)

    def mean_entropy(theta: np.ndarray) -> float:
        logits = model.forward(theta, x, "batch").logits
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return float(-(p * np.log(p + 1e-10)).sum() / len(x))

    theta = problem.source.start.copy()
    first, second = np.zeros(len(places)), np.zeros(len(places))
    for step in (1, 2):
        slope = np.empty(len(places))
        for i, place in enumerate(places):
            ends = []
            for sign in (1, -1):
                other = theta.copy()
                other[place] += sign * 1e-6
                ends.append(mean_entropy(other))
            slope[i] = (ends[0] - ends[1]) / 2e-6
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        unbiased = first / (1 - 0.9**step), second / (1 - 0.999**step)
        theta[places] -= 0.01 * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    # Where a gradient vanishes (a dead unit) Adam divides noise by noise: nothing to compare there.
    alive = np.abs(first) > 1e-7
    assert alive.sum() > len(places) // 2
    np.testing.assert_allclose(
        rounds.memory.values[0][alive], theta[places][alive], rtol=0, atol=1e-6
    )
    assert rounds.memory.of_steps.count.tolist() == [2] * 4


def test_tent_predicts_before_it_steps_and_by_the_statistics_of_the_batch(
    problem: StreamProblem,
) -> None:
    result = Rounds(Tent(rate=0.5), problem).round(0)[0]
    view = problem.view(np.arange(4), np.zeros(4, int))
    logits = problem.model.forward(problem.source.start, view.inputs, "batch").logits
    assert (result.metrics["accuracy"] * 20).tolist() == view.hits(logits).tolist()
    assert result.metrics["accuracy_after"].tolist() != result.metrics["accuracy"].tolist()


def test_running_statistics_follow_a_tenth_of_the_batch(problem: StreamProblem) -> None:
    """By hand, for the first layer: mean <- 0.9 mean + 0.1 batch mean, var with n / (n - 1)."""
    rule = BnAdapt(statistics="running")
    rounds = Rounds(rule, problem)
    rounds.round(0)
    layout, start = problem.model.layout, problem.source.start
    theta = np.repeat(start[None], 4, axis=0)
    theta[:, rule.which(problem)] = rounds.memory.values
    made, before = layout.parts(theta), layout.parts(start)
    x = problem.view(np.arange(4), np.zeros(4, int)).inputs.reshape(4, 20, -1)
    for c in range(4):
        units = x[c] @ before["body.0.weight"].T + before["body.0.bias"]
        mean = 0.9 * before["body.0.norm.running_mean"] + 0.1 * units.mean(axis=0)
        var = 0.9 * before["body.0.norm.running_var"] + 0.1 * units.var(axis=0, ddof=1)
        np.testing.assert_allclose(made["body.0.norm.running_mean"][c], mean, rtol=0, atol=1e-12)
        np.testing.assert_allclose(made["body.0.norm.running_var"][c], var, rtol=0, atol=1e-12)
    trained = layout.where(["body", "head"]) & ~layout.buffers
    assert (theta[:, trained] == start[trained]).all()


def test_statistics_of_the_batch_keep_nothing(problem: StreamProblem) -> None:
    rounds = Rounds(BnAdapt(), problem)
    figures = [rounds.round(step)[0].metrics for step in (0, 1)]
    assert rounds.memory.values[0].tobytes() == rounds.algorithm.memory(problem).values.tobytes()
    view = problem.view(np.arange(4), np.zeros(4, int), problem.period)
    logits = problem.model.forward(problem.source.start, view.inputs, "batch").logits
    assert (figures[1]["accuracy"] * 20).tolist() == view.hits(logits).tolist()
    assert figures[1]["accuracy_after"].tolist() == figures[1]["accuracy"].tolist()


@pytest.mark.parametrize("rule", [Tent(federated=True), BnAdapt(True, "running")])
def test_federated_ones_go_on_from_the_mean(rule: NormAdaptation, problem: StreamProblem) -> None:
    rounds = Rounds(rule, problem)
    first = rounds.round(0)[0].payload.values
    down = rounds.phases[0].broadcast(rounds.state, 1).values
    np.testing.assert_allclose(down, first.mean(axis=0), rtol=0, atol=1e-14)
    assert rounds.phases[0].download_bytes() == rounds.phases[0].upload_bytes() == 8 * 2 * (12 + 8)
    view = problem.view(np.arange(4), np.zeros(4, int), problem.period)
    theta = problem.source.start.copy()
    theta[rule.which(problem)] = down
    mode: Mode = "batch" if isinstance(rule, Tent) else "eval"
    logits = problem.model.forward(theta, view.inputs, mode).logits
    assert (rounds.round(1)[0].metrics["accuracy"] * 20).tolist() == view.hits(logits).tolist()


@pytest.mark.parametrize("rule", [Tent(), BnAdapt()])
def test_local_ones_send_nothing(rule: Adaptation, problem: StreamProblem) -> None:
    rounds = Rounds(rule, problem)
    rounds.round(0)
    assert rounds.state.theta.tobytes() == problem.source.start.tobytes()
    assert rounds.phases[0].download_bytes() == rounds.phases[0].upload_bytes() == 0


def test_gradients_are_counted(problem: StreamProblem) -> None:
    tent, follow = Tent(entropy_steps=3).phases(problem)[0], BnAdapt().phases(problem)[0]
    assert tent.samples(np.arange(2), 0).tolist() == [60.0, 60.0]
    assert follow.samples(np.arange(2), 0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("rule", [Tent(), BnAdapt()])
def test_nets_without_batch_normalisation_are_refused(rule: Adaptation) -> None:
    with pytest.raises(CapabilityError, match=r"this net has none; give it some \(net.batch_norm"):
        rule.check(small())


def test_what_cannot_be_had_is_refused(problem: StreamProblem) -> None:
    with pytest.raises(CapabilityError, match="nothing to average"):
        BnAdapt(federated=True).check(problem)
    with pytest.raises(CapabilityError, match=r"raise task\.batch"):
        Tent().check(small(batch=1, net=Mlp((12, 8), batch_norm=True)))

"""The stand-in for UDA: two losses, one of which the body climbs."""

import math

import numpy as np
import pytest

from driftfold.algorithms.adaptation import UdaStandIn
from driftfold.algorithms.adaptation.uda_stand_in import Opposing
from driftfold.arrays import Array
from driftfold.errors import SpecError
from driftfold.tasks.streams import StreamProblem
from tests.algorithms.adaptation.streams import Rounds, small


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small()


def losses(problem: StreamProblem, theta: Array, critic: Array, x: Array) -> tuple[float, float]:
    """Cross-entropy of the source, and log loss of the domain classifier, of one client."""
    source, model = problem.source, problem.model
    there, here = model.forward(theta, source.reference), model.forward(theta, x)
    logits = there.logits - there.logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    plain = -logs[np.arange(len(logs)), source.reference_labels].mean()
    z = [made.features @ critic[:-1] + critic[-1] for made in (there, here)]
    apart = np.logaddexp(0, z[0]).mean() / 2 + np.logaddexp(0, -z[1]).mean() / 2
    return float(plain), float(apart)


def test_directions_are_gradients_of_the_two_losses(problem: StreamProblem) -> None:
    """Central differences in 60 parameters and the whole classifier, to 1e-7."""
    phase = UdaStandIn().phases(problem)[0]
    assert isinstance(phase, Opposing)
    rng = np.random.default_rng(4)
    theta = problem.source.start + 0.01 * rng.standard_normal((2, problem.model.layout.size))
    critic, against = rng.standard_normal((2, 9)), np.array([0.3, 0.8])
    x = problem.view(np.arange(2), np.zeros(2, int)).inputs
    of_theta, of_critic = phase.slopes(theta, critic, x, against)
    for c in range(2):
        for place in rng.choice(theta.shape[1], 60, replace=False):
            ends = []
            for sign in (1, -1):
                other = theta[c].copy()
                other[place] += sign * 1e-6
                plain, apart = losses(problem, other, critic[c], x[c])
                ends.append(plain - against[c] * apart)
            assert of_theta[c, place] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)
        for place in range(9):
            ends = []
            for sign in (1, -1):
                other = critic[c].copy()
                other[place] += sign * 1e-6
                ends.append(losses(problem, theta[c], other, x[c])[1])
            assert of_critic[c, place] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def test_the_weight_grows_over_the_stream(problem: StreamProblem) -> None:
    rounds = Rounds(UdaStandIn(), problem)
    for t in range(3):
        told = rounds.round(t)[0].metrics["lambda"]
        expected = 2 / (1 + math.exp(-10 * t / 6)) - 1
        np.testing.assert_allclose(told, expected, rtol=0, atol=1e-15)


def test_bodies_are_averaged_and_classifiers_stay_at_home(problem: StreamProblem) -> None:
    rounds = Rounds(UdaStandIn(rate=0.1), problem)
    sent = rounds.round(1)[0].payload.shared
    own = problem.model.layout.where(["head"])
    np.testing.assert_allclose(rounds.state.theta[~own], sent.mean(axis=0), rtol=0, atol=1e-14)
    assert len({row.tobytes() for row in rounds.memory.critic}) == 4
    body = 8 * (12 * 64 + 12 + 8 * 12 + 8)
    assert rounds.phases[0].download_bytes() == rounds.phases[0].upload_bytes() == body
    assert rounds.phases[0].samples(np.arange(1), 0).tolist() == [2 * (30.0 + 20)]


def test_unknown_names_are_refused(problem: StreamProblem) -> None:
    with pytest.raises(SpecError, match="did you mean 'head'"):
        UdaStandIn(personal=("haed",)).check(problem)

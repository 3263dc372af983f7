"""Averages over those that answer alike: two exact limits, and a case by hand."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE, SimilarPeers
from driftfold.errors import CapabilityError
from driftfold.rates import Adaptive, FixedRate
from driftfold.risks import Entropy
from driftfold.tasks.streams import StreamProblem
from driftfold.trees import rows
from tests.algorithms.adaptation.streams import Rounds, small

INNER = FedADE(risk=Entropy(), rate=FixedRate(0.3))


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small()


def after(rule: SimilarPeers | FedADE, problem: StreamProblem, steps: int = 3) -> Rounds:
    rounds = Rounds(rule, problem)
    for step in range(steps):
        rounds.round(step)
    return rounds


@pytest.mark.parametrize("temperature", ["infinite", 1e15])
def test_an_infinite_temperature_is_fedade(temperature: Any, problem: StreamProblem) -> None:
    """To 1e-12: the means are added up in another order, over three steps."""
    peers, usual = after(SimilarPeers(INNER, temperature), problem), after(INNER, problem)
    body = usual.phases[0].broadcast(usual.state, 0).shared
    np.testing.assert_allclose(peers.state.shared, np.tile(body, (4, 1)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(peers.memory.personal, usual.memory.personal, rtol=0, atol=1e-12)
    np.testing.assert_allclose(peers.state.theta, usual.state.theta, rtol=0, atol=1e-12)


def test_temperature_zero_is_everybody_alone(problem: StreamProblem) -> None:
    """Weights are exp of differences of at least 1e-4 in cos, over 1e-9: exactly 0 and 1.

    Alone means steps on the body, then on the head, with a client's own body throughout.
    """
    peers = after(SimilarPeers(INNER, 1e-9), problem)
    for c in range(4):
        alone = after(INNER, small(clients=4), steps=0)
        alone.state = type(alone.state)(problem.source.start)
        for step in range(3):
            sent = alone.work(0, step).payload.shared
            theta = alone.state.theta.copy()
            theta[~alone.problem.model.layout.where(["head"])] = sent[c]
            alone.state = type(alone.state)(theta)
            alone.work(1, step)
            alone.rounds += 1
        np.testing.assert_allclose(peers.state.shared[c], sent[c], rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            peers.memory.personal[c], alone.memory.personal[c], rtol=0, atol=1e-13
        )


def test_bodies_are_means_by_similarity_of_outputs(problem: StreamProblem) -> None:
    """By plain loops, from models and the noise; to 1e-13."""
    rounds = Rounds(SimilarPeers(INNER, temperature=0.5, noise_inputs=7), problem)
    sent = rounds.work(0, 0).payload
    layout = problem.model.layout
    noise = rounds.phases[0].noise  # type: ignore[attr-defined]
    outputs = []
    for c in range(4):
        theta = np.empty(layout.size)
        head = layout.where(["head"])
        theta[~head], theta[head] = sent.shared[c], rounds.memory.personal[c]
        logits = problem.model.forward(theta, noise).logits
        p = np.exp(logits)
        outputs.append((p / p.sum(axis=1, keepdims=True)).ravel())
    assert noise.shape == (7, *problem.model.inputs)
    rounds.take(0, sent)
    for c in range(4):
        cos = [o @ outputs[c] / np.linalg.norm(o) / np.linalg.norm(outputs[c]) for o in outputs]
        a = np.exp(np.array(cos) / 0.5)
        a /= a.sum()
        assert 0.25 < a[c] < 1
        expected = sum(a[j] * sent.shared[j] for j in range(4))
        np.testing.assert_allclose(rounds.state.shared[c], expected, rtol=0, atol=1e-13)


def test_whose_data_moved_counts_for_less() -> None:
    rule = SimilarPeers(temperature="infinite", drift_aware=True)
    said, given = np.ones((3, 2)), np.full(3, 1 / 3)
    a = rule.weights(said, np.array([[0.0], [0.5], [1.0]]), given)
    np.testing.assert_allclose(a, np.tile([2 / 3, 1 / 3, 0], (3, 1)), rtol=0, atol=1e-15)
    everybody = rule.weights(said, np.ones((3, 1)), given)
    assert everybody.tolist() == np.eye(3).tolist()


def test_signals_go_up_where_they_count(problem: StreamProblem) -> None:
    rule = SimilarPeers(FedADE(risk=Entropy(), rate=Adaptive()), drift_aware=True)
    rounds = Rounds(rule, problem)
    rounds.round(0)
    result = rounds.work(0, 1)
    assert (result.payload.signal[:, 0] == result.metrics["signal"]).all()
    assert (result.payload.signal > 0).all()
    with pytest.raises(CapabilityError, match="choose rate 'adaptive'"):
        SimilarPeers(INNER, drift_aware=True).check(problem)


def test_rows_add_up_to_one_and_who_was_away_keeps_its_body(problem: StreamProblem) -> None:
    rounds = Rounds(SimilarPeers(INNER), problem)
    rounds.round(0)
    before = rounds.state.shared
    part = np.array([1, 3])
    whole = rounds.memory
    rounds.memory = rows(whole, part)
    sent = rounds.work(0, 1, part).payload
    a = rounds.algorithm.weights(sent.said, sent.signal, np.array([0.9, 0.4]))  # type: ignore[attr-defined]
    np.testing.assert_allclose(a.sum(axis=1), 1, rtol=0, atol=1e-15)
    rounds.everyone = part
    rounds.take(0, sent)
    assert rounds.state.shared[[0, 2]].tobytes() == before[[0, 2]].tobytes()
    assert np.abs(rounds.state.shared[part] - before[part]).max() > 1e-6


def test_each_gets_its_own_row_alone(problem: StreamProblem) -> None:
    first, second = SimilarPeers(INNER).phases(problem)
    body = 8 * (12 * 64 + 12 + 8 * 12 + 8)
    assert first.download_bytes() == second.download_bytes() == body
    assert (first.upload_bytes(), second.upload_bytes()) == (body + 8 * 64 * 10, 0)

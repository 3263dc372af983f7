"""Rates that the server sets, against a loop by hand."""

import numpy as np
import pytest

from driftfold.algorithms.adaptation import AdaptiveFedAvg, Frozen
from driftfold.drift import LabelMixture
from driftfold.nets.losses import cross_entropy
from driftfold.risks import Entropy, PseudoLabels
from tests.algorithms.adaptation.streams import Rounds, small

PROBLEM = small(clients=2)
START = PROBLEM.source.start


def test_three_rounds_by_hand() -> None:
    """Tolerance 1e-12: the mean is theta + mean way, and sums are in another order."""
    rounds = Rounds(AdaptiveFedAvg(PseudoLabels(), rate=0.3), PROBLEM)
    theta, eta = START, 0.3
    m, v, r, last = np.zeros_like(START), 0.0, 0.0, 0.0
    for t in (1, 2, 3):
        figures, sent = rounds.round(t - 1)[0].metrics, []
        assert figures["rate"] == pytest.approx([eta] * 2, rel=1e-12)
        for c in range(2):
            inputs, truth = PROBLEM.stream.batch(np.array([c]), np.array([t - 1]))
            own = theta[None]
            named = PROBLEM.model.forward(own, inputs).logits.argmax(axis=-1)
            assert figures["accuracy"][c] == (named == truth).mean()
            for _ in range(2):
                made = PROBLEM.model.forward(own, inputs)
                slope = cross_entropy(made.logits, made.logits.argmax(axis=-1))[1]
                own = own - eta * made.pullback(slope / 20)
            sent.append(own[0])
        before = m / (1 - 0.7 ** (t - 1)) if t > 1 else START
        theta = np.mean(sent, axis=0)
        m = 0.7 * m + 0.3 * theta
        v = 0.3 * v + 0.7 * ((theta - before) ** 2).mean()
        now = v / (1 - 0.3**t)
        r = 0.7 * r + 0.3 * (now / last if t > 1 else 1.0)
        last, eta = now, min(0.3, 0.3 * r / (1 - 0.7**t) / t)
        np.testing.assert_allclose(rounds.state.theta, theta, atol=1e-12)
        np.testing.assert_allclose(rounds.state.rate, eta, rtol=1e-9)


def test_the_rate_falls_and_rises_again_when_the_model_moves() -> None:
    """By hand: models that settle, then jump."""
    rule, problem = AdaptiveFedAvg(rate=1.0), PROBLEM
    state = rule.begin(problem, START)
    rates = []
    for t in range(12):
        shift = 0.1 * 0.5**t if t < 10 else 5.0
        state = rule.looked(state, START + shift)
        rates.append(float(state.rate))
    assert rates[0] == 1.0  # r = 1, t = 1
    assert rates[9] < 0.1
    assert rates[10] == 1.0  # min(eta_0, .)


def test_a_model_that_does_not_move_has_a_rate() -> None:
    rule = AdaptiveFedAvg(rate=0.3)
    state = rule.begin(PROBLEM, START)
    for _ in range(4):
        state = rule.looked(state, START.copy())
    assert 0 < float(state.rate) <= 0.3 / 4 + 1e-12
    assert np.isfinite(state.rate)


def test_it_predicts_first_with_the_servers_model() -> None:
    rounds, frozen = Rounds(AdaptiveFedAvg(), PROBLEM), Rounds(Frozen(), PROBLEM)
    first = [each.round(0)[0].metrics["accuracy"].tolist() for each in (rounds, frozen)]
    assert first[0] == first[1]


def test_a_batch_is_considered_once() -> None:
    rounds = Rounds(AdaptiveFedAvg(Entropy()), small(drift=(LabelMixture(),)))
    rounds.round(0)
    rounds.round(0)
    assert rounds.memory.ledger.visits.tolist() == [1] * 4
    assert int(rounds.state.rounds) == 2  # the server counts rounds


def test_costs() -> None:
    (phase,) = AdaptiveFedAvg(steps=3).phases(PROBLEM)
    assert phase.upload_bytes() == 8 * len(START)
    assert phase.download_bytes() == 8 * len(START) + 8
    assert phase.samples(np.arange(1), 0).tolist() == [3 * 5.0]  # labels

"""Heads for several rates, against a loop by hand and against Fed-ADE."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE, Frozen, Hedge
from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.nets.losses import cross_entropy, entropy
from driftfold.rates import FixedRate
from driftfold.risks import BbseSource, Entropy, Risk
from driftfold.tasks.streams import StreamProblem
from tests.algorithms.adaptation.streams import Rounds, small

PROBLEM = small(clients=2)
OWN = PROBLEM.model.layout.where(["head"])
START = PROBLEM.source.start


def risk(problem: StreamProblem, theta: Floats, client: int, step: int) -> tuple[float, Floats]:
    """Entropy of one client's batch at theta (P,), and its gradient."""
    inputs, _ = problem.stream.batch(np.array([client]), np.array([step]))
    made = problem.model.forward(theta[None], inputs)
    values, slope = entropy(made.logits)
    return float(values.mean()), made.pullback(slope / inputs.shape[1])[0]


def joined(psi: Floats, phi: Floats) -> Floats:
    theta = np.empty_like(START)
    theta[~OWN], theta[OWN] = psi, phi
    return theta


def test_two_steps_of_two_clients_by_hand() -> None:
    """Tolerance 1e-12: products over features in another order."""
    rule = Hedge(Entropy(), low=0.05, high=0.8, rates=3, shared_steps=2, personal_steps=1)
    rounds, rates = Rounds(rule, PROBLEM), [0.05, 0.2, 0.8]
    eps = np.sqrt(8 * np.log(3) / 6) / np.log(10)
    psi = START[~OWN]
    phi = [[START[OWN]] * 3 for _ in range(2)]
    q = [np.full(3, 1 / 3) for _ in range(2)]
    for step in range(2):
        figures, sent = rounds.round(step)[0].metrics, []
        for c in range(2):
            inputs, truth = PROBLEM.stream.batch(np.array([c]), np.array([step]))
            mean = joined(psi, sum(q[c][i] * phi[c][i] for i in range(3)))
            said = PROBLEM.model.forward(mean, inputs).logits[0].argmax(axis=1)
            assert figures["accuracy"][c] == (said == truth[0]).mean()
            losses = [risk(PROBLEM, joined(psi, each), c, step)[0] for each in phi[c]]
            q[c] = q[c] * np.exp(-eps * np.array(losses))
            q[c] /= q[c].sum()
            eta = float(q[c] @ rates)
            assert abs(figures["rate"][c] - eta) < 1e-12
            own = psi
            for _ in range(2):
                mean = joined(own, sum(q[c][i] * phi[c][i] for i in range(3)))
                steep = [risk(PROBLEM, joined(own, each), c, step)[1][OWN] for each in phi[c]]
                own = own - eta * risk(PROBLEM, mean, c, step)[1][~OWN]
                phi[c] = [phi[c][i] - rates[i] * steep[i] for i in range(3)]
            sent.append(own)
        psi = np.mean(sent, axis=0)
        for c in range(2):
            steep = [risk(PROBLEM, joined(psi, each), c, step)[1][OWN] for each in phi[c]]
            phi[c] = [phi[c][i] - rates[i] * steep[i] for i in range(3)]
    np.testing.assert_allclose(rounds.state.theta[~OWN], psi, atol=1e-12)
    np.testing.assert_allclose(rounds.memory.heads, phi, atol=1e-12)
    got = np.exp(rounds.memory.logs)
    np.testing.assert_allclose(got / got.sum(axis=1, keepdims=True), q, rtol=1e-10)


@pytest.mark.parametrize("risk", [BbseSource(), Entropy()], ids=repr)
def test_one_rate_is_fed_ade_with_it(risk: Risk) -> None:
    """The way through all parameters at once, or body and head apart: to 1e-13."""
    one = Rounds(Hedge(risk, low=0.3, high=0.3, rates=1), PROBLEM)
    other = Rounds(FedADE(risk, FixedRate(0.3)), PROBLEM)
    for step in range(3):
        figures = [each.round(step)[0].metrics for each in (one, other)]
        assert figures[0]["accuracy"].tolist() == figures[1]["accuracy"].tolist()
        assert figures[0]["rate"].tolist() == figures[1]["rate"].tolist()
    np.testing.assert_allclose(one.state.theta, other.state.theta, atol=1e-13)
    np.testing.assert_allclose(one.memory.heads[:, 0], other.memory.personal, atol=1e-13)


def test_the_weights_find_the_rate_that_does_best() -> None:
    """On a risk that steps lower, larger rates have had less of it."""
    rule = Hedge(Entropy(), low=0.001, high=0.3, rates=4, range=0.1)
    rounds = Rounds(rule, small(drift=(), clients=2, steps=10))
    rates = [rounds.round(step)[0].metrics["rate"].mean() for step in range(10)]
    assert rates[0] == pytest.approx(np.geomspace(0.001, 0.3, 4).mean())
    assert rates[-1] > 2 * rates[0]
    assert (np.diff(rounds.memory.logs, axis=1) > 0).all()


def test_losses_are_those_of_the_risk_before_any_step() -> None:
    """Heads that differ from the start, weighed by F = sum_k p_k F_0^k of each."""
    rounds = Rounds(Hedge(rates=3), PROBLEM)
    shift = np.array([0.0, 0.5, -0.5])[:, None] * np.sin(np.arange(OWN.sum()))
    heads = rounds.memory.heads + shift
    rounds.memory = replace(rounds.memory, heads=heads)
    rounds.work(0, 0)
    source, model, p = PROBLEM.source, PROBLEM.model, rounds.memory.belief
    labels = source.reference_labels
    eps = np.sqrt(8 * np.log(3) / 6) / np.log(10)
    for c in range(2):
        logits = [
            model.forward(joined(START[~OWN], phi), source.reference).logits for phi in heads[c]
        ]
        losses = [p[c][labels] @ cross_entropy(z, labels)[0] / source.each for z in logits]
        logs = -eps * np.array(losses)
        np.testing.assert_allclose(rounds.memory.logs[c], logs - logs.max(), atol=1e-12)
        assert np.ptp(losses) > 0.01


def test_rounds_of_one_step_share_weights_and_belief() -> None:
    rounds = Rounds(Hedge(rates=3), PROBLEM)
    rounds.round(0)
    rounds.round(1)
    known = rounds.memory.logs.copy(), rounds.memory.belief.copy()
    rounds.round(1)
    assert rounds.memory.logs.tolist() == known[0].tolist()
    assert rounds.memory.belief.tolist() == known[1].tolist()


def test_it_predicts_first_and_begins_with_the_trained_head() -> None:
    rounds, frozen = Rounds(Hedge(), PROBLEM), Rounds(Frozen(), PROBLEM)
    first: list[Any] = [each.round(0)[0].metrics["accuracy"].tolist() for each in (rounds, frozen)]
    assert first[0] == first[1]


def test_a_gradient_for_each_head_and_one_for_the_body() -> None:
    first, second = Hedge(rates=4, shared_steps=3, personal_steps=2).phases(PROBLEM)
    assert first.samples(np.arange(2), 0).tolist() == [3 * 5 * 30.0] * 2
    assert second.samples(np.arange(2), 0).tolist() == [2 * 4 * 30.0] * 2
    body = int((~OWN).sum()) * 8
    assert (first.download_bytes(), first.upload_bytes()) == (body, body)
    assert (second.download_bytes(), second.upload_bytes()) == (body, 0)


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(SpecError, match="exchange them"):
        Hedge(low=1.0, high=0.1).check(PROBLEM)

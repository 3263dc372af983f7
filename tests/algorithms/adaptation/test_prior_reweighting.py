"""Reweighted predictions against calculations by hand."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import Frozen, PriorReweighting
from driftfold.arrays import Floats
from driftfold.errors import DataError
from driftfold.label_shift import (
    Calibration,
    FlhFtl,
    Inverse,
    LabelEstimate,
    Prior,
    Rogd,
    RunningMean,
    Uniform,
    bias_corrected_temperature,
)
from driftfold.tasks.streams import Pretraining, StreamProblem
from tests.algorithms.adaptation.streams import Rounds, small

PROBLEM = small(clients=2)
PRIOR = PROBLEM.source.prior


def by_hand(problem: StreamProblem, client: int, step: int) -> tuple[Floats, Floats, Floats]:
    """Probabilities (n, K) of theta_0, shares of what it names, and the true classes."""
    inputs, truth = problem.stream.batch(np.array([client]), np.array([step]))
    logits = problem.model.forward(problem.source.start, inputs).logits[0]
    said = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    named = np.array([(said.argmax(axis=1) == k).mean() for k in range(said.shape[1])])
    return said, named, truth[0]


def confusion(problem: StreamProblem) -> Floats:
    source = problem.source
    said = problem.model.forward(source.start, source.held_out).logits.argmax(axis=1)
    table = np.zeros((problem.model.classes,) * 2)
    for i, j in zip(said, source.held_out_labels, strict=True):
        table[i, j] += 1
    made: Floats = table / table.sum(axis=0)
    return made


def test_follow_the_history_over_three_steps() -> None:
    """p_1 = pi_0; p_{t+1} = M^-1 (mean of all that was named so far); argmax f p / pi_0."""
    rounds = Rounds(PriorReweighting(calibrate="none"), PROBLEM)
    m, prior = confusion(PROBLEM), PRIOR
    named: list[list[Floats]] = [[], []]
    for step in range(3):
        figures = rounds.round(step)[0].metrics
        for client in range(2):
            said, shares, truth = by_hand(PROBLEM, client, step)
            past = named[client]
            p = np.linalg.solve(m, np.mean(past, axis=0)) if past else prior
            right = (said * p / prior).argmax(axis=1) == truth
            assert figures["accuracy"][client] == right.mean()
            past.append(shares)
            p = np.linalg.solve(m, np.mean(past, axis=0))
            np.testing.assert_allclose(rounds.memory.p[client], p, atol=1e-12)
            right = (said * p / prior).argmax(axis=1) == truth
            assert figures["accuracy_after"][client] == right.mean()


def test_now_reweights_by_the_present_batch() -> None:
    rounds = Rounds(PriorReweighting(Inverse(), when="now", calibrate="none"), PROBLEM)
    m = confusion(PROBLEM)
    for step in range(3):
        figures = rounds.round(step)[0].metrics
        for client in range(2):
            said, shares, truth = by_hand(PROBLEM, client, step)
            p = np.maximum(np.linalg.solve(m, shares), 0)
            right = (said * p / PRIOR).argmax(axis=1) == truth
            assert figures["accuracy"][client] == figures["accuracy_after"][client] == right.mean()


@pytest.mark.parametrize("when", ["past", "now"])
@pytest.mark.parametrize("calibrate", ["none", "temperature"])
def test_the_prior_of_the_source_leaves_predictions_alone(when: Any, calibrate: Any) -> None:
    rule = PriorReweighting(Prior(), when=when, calibrate=calibrate)
    rounds, plain = Rounds(rule, PROBLEM), Rounds(Frozen(), PROBLEM)
    for step in range(3):
        got, wanted = (each.round(step)[0].metrics["accuracy"].tolist() for each in (rounds, plain))
        assert got == wanted
    view = PROBLEM.view(rounds.everyone, rounds.everyone, 2 * PROBLEM.period)
    scores = rule.scores(PROBLEM, rounds.state, rounds.memory, view)
    logits = PROBLEM.model.forward(PROBLEM.source.start, view.inputs).logits
    assert (scores.argmax(axis=-1) == logits.argmax(axis=-1)).all()


def test_the_past_forgets_the_present_and_the_present_does_not() -> None:
    """Predict first, then update: the first step's predictions are those of pi_0."""
    first = [
        Rounds(PriorReweighting(RunningMean(Inverse()), when=when), small()).round(0)[0].metrics
        for when in ("past", "now")
    ]
    frozen = Rounds(Frozen(), small()).round(0)[0].metrics["accuracy"].tolist()
    assert first[0]["accuracy"].tolist() == frozen
    assert first[0]["accuracy_after"].tolist() == first[1]["accuracy"].tolist()
    assert first[1]["accuracy"].tolist() != frozen


@pytest.mark.parametrize(
    "labels",
    [RunningMean(Inverse(), window=2), FlhFtl(Inverse()), Rogd(Inverse(), horizon=6), Uniform()],
    ids=lambda rule: type(rule).__name__,
)
def test_any_estimate_is_the_one_of_the_steps_before(labels: LabelEstimate[Any]) -> None:
    rule = PriorReweighting(labels)
    rounds, facts = Rounds(rule, PROBLEM), PROBLEM.source.facts()
    memory: Any = rounds.memory.of_labels
    for step in range(3):
        p = labels.belief(memory, facts, 2)
        np.testing.assert_array_equal(rounds.memory.p, p)
        rounds.round(step)
        said = np.stack([by_hand(PROBLEM, client, step)[0] for client in range(2)])
        _, memory = labels.estimate(memory, facts, said)


def test_a_batch_counts_once_however_many_rounds_it_has() -> None:
    once, often = (Rounds(PriorReweighting(), PROBLEM) for _ in range(2))
    once.round(0)
    for _ in range(3):
        often.round(0)
    assert often.memory.p.tobytes() == once.memory.p.tobytes()
    assert often.memory.of_labels.count.tolist() == [1, 1]
    assert often.memory.ledger.before.tolist() == once.memory.ledger.before.tolist()


def test_negative_shares_are_never_named_nor_cut_from_the_mean() -> None:
    """The trap: the paper's mean is of estimates that were not clipped."""
    rounds = Rounds(PriorReweighting(), PROBLEM)
    rounds.round(0)
    p = rounds.memory.p
    assert (p < 0).any()
    view = PROBLEM.view(rounds.everyone, rounds.everyone, PROBLEM.period)
    scores = PriorReweighting().scores(PROBLEM, rounds.state, rounds.memory, view)
    assert (scores[np.broadcast_to((p <= 0)[:, None], scores.shape)] == -np.inf).all()
    clipped = Rounds(PriorReweighting(RunningMean(Inverse(fix="clip"))), PROBLEM)
    for step in range(3):
        rounds.round(step)
        clipped.round(step)
    assert np.abs(np.maximum(rounds.memory.p, 0) - clipped.memory.p).max() > 1e-3


def test_temperatures_are_those_of_held_out_examples() -> None:
    source = PROBLEM.source
    logits = PROBLEM.model.forward(source.start, source.held_out).logits
    said = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    fits = {
        how: PriorReweighting(calibrate=how).calibration(source.facts())
        for how in ("none", "temperature", "bias_corrected")
    }
    assert (fits["none"].temperature, fits["none"].bias.tolist()) == (1.0, [0.0] * 10)
    for how, bias in (("temperature", False), ("bias_corrected", True)):
        wanted = bias_corrected_temperature(said, source.held_out_labels, bias, source.prior)
        assert abs(fits[how].temperature - wanted.temperature) < 1e-9
        np.testing.assert_allclose(fits[how].bias, wanted.bias, atol=1e-9)
    assert fits["temperature"].temperature != fits["bias_corrected"].temperature
    assert isinstance(fits["none"], Calibration)


def test_what_cannot_be_had_is_told_before_the_run() -> None:
    lazy = small(pretraining=Pretraining(epochs=1, rate=1e-6))
    with pytest.raises(DataError, match="confusion matrix has no inverse"):
        PriorReweighting(calibrate="none").check(lazy)

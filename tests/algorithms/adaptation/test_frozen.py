"""The deployed model as it is."""

import numpy as np

from driftfold.algorithms.adaptation import Frozen
from tests.algorithms.adaptation.streams import Rounds, small


def test_nothing_moves_and_the_ledger_counts() -> None:
    rounds = Rounds(Frozen(), small())
    problem, source = rounds.problem, rounds.problem.source
    right = []
    for step in range(3):
        figures = rounds.round(step)[0].metrics
        inputs, truth = problem.stream.batch(rounds.everyone, np.full(4, step))
        said = problem.model.forward(source.start, inputs).logits.argmax(axis=-1)
        right.append((said == truth).mean(axis=1))
        assert figures["accuracy"].tolist() == right[-1].tolist()
        assert figures["accuracy_after"].tolist() == right[-1].tolist()
    assert rounds.state.theta.tobytes() == source.start.tobytes()
    told = Frozen().evaluate(problem, rounds.state, (rounds.everyone, rounds.memory), 0.0)
    assert abs(told["accuracy_visits"] - np.mean(right)) < 1e-15
    assert abs(told["worst_decile"] - np.mean(right, axis=0).min()) < 1e-15
    assert told["rate"] == 0.0
    assert abs(told["accuracy_everyone"] - right[0].mean()) < 1e-15


def test_it_costs_nothing() -> None:
    (phase,) = Frozen().phases(small())
    assert phase.download_bytes() == phase.upload_bytes() == 0
    assert phase.samples(np.arange(3), 0).tolist() == [0.0] * 3

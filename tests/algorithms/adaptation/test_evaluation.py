"""Which clients count in an accuracy, and what it costs to find out."""

import tracemalloc

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE, Frozen
from driftfold.rates import FixedRate
from driftfold.risks import Entropy
from driftfold.trees import rows, spread
from tests.algorithms.adaptation.streams import Rounds, small

RULE = FedADE(Entropy(), FixedRate(0.5))


def test_who_was_never_there_counts_among_everybody_and_not_among_the_adapted() -> None:
    """By hand: clients 3 and 1 have heads of their own, 0 and 2 the trained one."""
    rounds = Rounds(RULE, small())
    for step in range(2):
        rounds.round(step)
    problem, state, some = rounds.problem, rounds.state, np.array([3, 1])
    visited = rows(rounds.memory, some)
    told = RULE.evaluate(problem, state, (some, visited), 2 * problem.period)
    view = problem.view(rounds.everyone, rounds.everyone * 0, 2 * problem.period)
    fresh = spread(RULE.memory(problem), 4)
    adapted, trained = (
        view.hits(RULE.scores(problem, state, memory, view)) for memory in (rounds.memory, fresh)
    )
    hits = np.where(np.isin(rounds.everyone, some), adapted, trained)
    assert told["accuracy_everyone"] == hits.sum() / 80
    assert told["accuracy_adapted"] == adapted[some].sum() / 40 != trained[some].sum() / 40
    assert told["adapted"] == 0.5


def test_before_anybody_was_there_nobody_has_adapted() -> None:
    problem = small()
    nobody = np.zeros(0, dtype=np.int64)
    none = rows(spread(RULE.memory(problem), 1), nobody)
    told = RULE.evaluate(problem, RULE.begin(problem, problem.source.start), (nobody, none), 0.0)
    frozen = Frozen()
    state = frozen.begin(problem, problem.source.start)
    same = frozen.evaluate(
        problem, state, (nobody, rows(spread(frozen.memory(problem), 1), nobody)), 0.0
    )
    assert set(told) == {"accuracy_everyone", "adapted"}
    assert told["adapted"] == 0.0
    assert told["accuracy_everyone"] == same["accuracy_everyone"]


@pytest.mark.slow
def test_memories_are_not_copied_as_a_whole() -> None:
    """2,000 clients keep 18 MB; what is looked at is a tile at a time."""
    problem = small(clients=2000, batch=2)
    rule = FedADE(Entropy(), FixedRate(0.5), federated=False)
    memory = spread(rule.memory(problem), 2000)
    memory = rows(memory, np.arange(2000))  # copies of their own
    state = rule.begin(problem, problem.source.start)
    everyone = np.arange(2000)
    rule.evaluate(problem, state, (everyone[:1], rows(memory, everyone[:1])), 0.0)
    tracemalloc.start()
    rule.evaluate(problem, state, (everyone, memory), 0.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert memory.shared.nbytes > 14e6
    assert peak < 12e6

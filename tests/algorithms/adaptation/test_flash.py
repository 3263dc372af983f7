"""Flash: the server's moments by a loop over coordinates, and clients that stop early."""

import math

import numpy as np
import pytest

from driftfold.algorithms.adaptation import Flash
from driftfold.risks import Labelled, Scene
from driftfold.tasks.streams import StreamProblem
from tests.algorithms.adaptation.streams import Rounds, small


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small()


def test_server_moments_are_those_of_a_plain_loop(problem: StreamProblem) -> None:
    """To 1e-12 over three rounds."""
    rounds = Rounds(Flash(server_rate=0.05), problem)
    picks = range(0, problem.model.layout.size, 97)
    theta = {p: float(rounds.state.theta[p]) for p in picks}
    m, d = dict.fromkeys(picks, 0.0), dict.fromkeys(picks, 0.0)
    v = dict.fromkeys(picks, 1e-6)
    for step in range(3):
        before = rounds.state.theta
        sent = rounds.work(0, step).payload
        rounds.take(0, sent)
        for p in picks:
            g = float(np.mean(sent.theta[:, p] - before[p]))
            m[p] = 0.9 * m[p] + 0.1 * g
            old, v[p] = v[p], 0.99 * v[p] + 0.01 * g * g
            b3 = abs(old) / (abs(g * g - v[p]) + abs(old))
            d[p] = b3 * d[p] + (1 - b3) * (g * g - v[p])
            theta[p] += 0.05 * m[p] / max(math.sqrt(v[p]) - d[p] + 1e-3, 1e-3)
            assert rounds.state.theta[p] == pytest.approx(theta[p], abs=1e-12)
    assert max(d.values()) > 0


def test_a_great_change_does_not_turn_the_step_around(problem: StreamProblem) -> None:
    """g = 10: v = 1, d = 98.99 (1 - 1e-8), so sqrt v - d + tau is below 0; tau takes its place."""
    rounds = Rounds(Flash(), problem)
    k, size = 4, problem.model.layout.size
    before = rounds.state.theta
    payload = rounds.work(0, 0).payload
    rounds.take(0, type(payload)(np.tile(before + 10, (k, 1))))
    assert rounds.state.drift[0] == pytest.approx(99.0, abs=0.02)
    np.testing.assert_allclose(rounds.state.theta - before, np.full(size, 0.01 / 1e-3), rtol=1e-9)


def test_clients_stop_where_a_step_helps_little(problem: StreamProblem) -> None:
    """Each client alone, step by step, with losses written out; to 1e-13."""
    rule = Flash(Labelled(4), steps=6, rate=0.3, patience=0.05)
    rounds = Rounds(rule, problem)
    for step in range(3):
        result = rounds.work(0, step)
        taken = result.metrics["local_steps"]
        for c in range(4):
            who = np.array([c])
            view = problem.view(who, who, np.array([step * problem.period]))
            rows, _ = rule.risk.consider(problem, problem.source.start[None], view, None)
            scene, theta = Scene.of(problem, view), rounds.state.theta[None]
            done, last = 0, math.inf
            for e in range(6):
                slope = rule.risk.slope(theta, scene, rows)
                if e and 0 < last - slope.value[0] < 0.05 / e:
                    break
                last = slope.value[0]
                theta, done = theta - 0.3 * slope.gradient, done + 1
            assert taken[c] == done
            np.testing.assert_allclose(result.payload.theta[c], theta[0], rtol=0, atol=1e-13)
        rounds.take(0, result.payload)
    assert 1 <= taken.min() < taken.max()


def test_without_patience_all_steps_are_taken(problem: StreamProblem) -> None:
    result = Rounds(Flash(patience=0.0), problem).work(0, 0)
    assert result.metrics["local_steps"].tolist() == [5.0] * 4

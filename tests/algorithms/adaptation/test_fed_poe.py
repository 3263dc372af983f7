"""Fed-POE against a program for one client at a time, and what its released code does otherwise."""

import math
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedPOE
from driftfold.algorithms.adaptation.mixing import chance, drawn, mixture, shares
from driftfold.arrays import Array
from driftfold.tasks.streams import StreamProblem
from tests.algorithms.adaptation.streams import Rounds, small

RULE = FedPOE(rate=3.0, weight_rate=2.0, draws=3, every=2)


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small()


class Straight:
    """The algorithm as the paper writes it, in plain loops and without logarithms of weights."""

    def __init__(self, problem: StreamProblem, sequential: bool = False) -> None:
        self.problem, self.sequential = problem, sequential
        layout = problem.model.layout
        head = problem.source.start[layout.where(["head"])]
        self.w0, self.b0 = head[:80].reshape(10, 8).copy(), head[80:].copy()
        self.g = (self.w0, self.b0)
        self.pool = [self.g]
        clients = range(problem.fleet.size)
        self.local = [self.g for _ in clients]
        self.abcd = [np.ones(4) for _ in clients]
        self.u = [[1.0] for _ in clients]
        self.lost = [0.0 for _ in clients]
        self.outputs: Any = None

    def step(self, t: int) -> None:
        root = math.sqrt(self.problem.stream.steps)
        eta, eta_w = 3.0 / root, 2.0 / root
        if t and t % 2 == 0:
            self.pool.append(self.g)
        k = len(self.local)
        view = self.problem.view(np.arange(k), np.zeros(k, int), t * self.problem.period)
        h = self.problem.model.forward(self.problem.source.start, view.inputs).features
        numbers = view.stream("snapshots").uniform(np.arange(k), np.full(k, t), 3)
        self.outputs, versions, samples = [], [], []
        for c in range(k):
            while len(self.u[c]) < len(self.pool):
                self.u[c].append(math.exp(-eta_w * self.lost[c]))
            u, (a, b, cc, d) = np.array(self.u[c]), self.abcd[c]
            met = sorted(
                {int(np.searchsorted(np.cumsum(u / u.sum()), x, "right")) for x in numbers[c]}
            )
            snaps = [said(f, h[c]) for f in self.pool]
            of_snaps = sum(u[j] * snaps[j] for j in met) / sum(u[j] for j in met)
            one, two = said(self.local[c], h[c]), said(self.g, h[c])
            of_two = (a * one + b * two) / (a + b)
            output = (cc * of_two + d * of_snaps) / (cc + d)
            self.outputs.append(output)
            y = output.argmax(axis=1)
            losses = [loss(p, y) for p in (one, two, of_two, of_snaps)]
            for j in met:
                p = 1 - (1 - u[j] / u.sum()) ** 3
                self.u[c][j] *= math.exp(-eta_w * loss(snaps[j], y) / p)
            self.abcd[c] = self.abcd[c] * np.exp(-eta_w * np.array(losses))
            self.lost[c] += losses[1]
            samples.append((h[c][-10:], y[-10:]))
            self.local[c] = lower(self.local[c], *samples[-1], eta)
            versions.append(lower(self.g, *samples[-1], eta))
        if self.sequential:
            for last in samples:
                self.g = lower(self.g, *last, eta)
        else:
            self.g = tuple(sum(v[i] for v in versions) / k for i in (0, 1))


def said(head: tuple[Array, Array], h: Array) -> Array:
    p = np.exp(h @ head[0].T + head[1])
    return p / p.sum(axis=1, keepdims=True)


def loss(p: Array, y: Array) -> float:
    return float(np.mean([-math.log(row[k]) for row, k in zip(p, y, strict=True)]))


def lower(head: tuple[Array, Array], h: Array, y: Array, eta: float) -> tuple[Array, Array]:
    slope = (said(head, h) - np.eye(10)[y]) / len(y)
    return head[0] - eta * slope.T @ h, head[1] - eta * slope.sum(axis=0)


@pytest.mark.parametrize("averaging", ["mean", "sequential"])
def test_it_is_the_papers_algorithm(averaging: Any, problem: StreamProblem) -> None:
    """Six steps with three snapshots, to 1e-10: sums go in other orders, weights as logarithms."""
    rounds = Rounds(FedPOE(3.0, 2.0, draws=3, every=2, averaging=averaging), problem)
    straight = Straight(problem, averaging == "sequential")
    for t in range(6):
        result = rounds.round(t)[0]
        straight.step(t)
        view = problem.view(rounds.everyone, rounds.everyone * 0, t * problem.period)
        assert (result.metrics["accuracy"] * 20).tolist() == view.hits(
            np.stack(straight.outputs)
        ).tolist()
        g = np.concatenate([part.ravel() for part in straight.g])
        np.testing.assert_allclose(rounds.state.theta[-90:], g, rtol=0, atol=1e-10)
        for c in range(4):
            own = np.concatenate([part.ravel() for part in straight.local[c]])
            np.testing.assert_allclose(rounds.memory.local[c], own, rtol=0, atol=1e-10)
            count = len(straight.pool)
            assert count == rounds.memory.known[c] == 1 + t // 2
            np.testing.assert_allclose(
                rounds.memory.snapshots[c, :count], np.log(straight.u[c]), rtol=0, atol=1e-9
            )
        np.testing.assert_allclose(rounds.memory.logs, np.log(straight.abcd), rtol=0, atol=1e-9)


def test_snapshots_are_of_the_federated_model(problem: StreamProblem) -> None:
    """Not of a client's own, as in the released code; and as it is after every second step."""
    rounds = Rounds(RULE, problem)
    heads = []
    for t in range(5):
        rounds.round(t)
        heads.append(rounds.state.theta[-90:].copy())
    start = problem.source.start[-90:]
    assert rounds.state.pool.tolist() == np.stack([start, heads[1], heads[3]]).tolist()
    assert rounds.state.theta[:-90].tobytes() == problem.source.start[:-90].tobytes()


def test_the_mean_is_of_versions_that_began_alike(problem: StreamProblem) -> None:
    """The released code changes one G in place, so that its mean is of equal things."""
    means, ways = [], []
    for averaging in ("mean", "sequential"):
        rounds = Rounds(FedPOE(3.0, averaging=averaging), problem)
        rounds.round(0)
        means.append(rounds.state.theta[-90:])
        ways.append(np.linalg.norm(rounds.state.theta - problem.source.start))
    assert ways[1] > 2 * ways[0]  # four steps one after the other, not a mean of four
    assert np.abs(means[0] - means[1]).max() > 1e-3


def test_rounds_of_a_step_weigh_once(problem: StreamProblem) -> None:
    rounds = Rounds(RULE, problem)
    rounds.round(0)
    first = rounds.memory
    rounds.round(0)
    again = rounds.memory
    assert again.logs.tolist() == first.logs.tolist()
    assert again.snapshots.tolist() == first.snapshots.tolist()
    assert again.samples.labels.tolist() == first.samples.labels.tolist()
    assert np.abs(again.local - first.local).max() > 0
    assert again.ledger.visits.tolist() == [1] * 4


def test_small_batches_fill_the_last_samples() -> None:
    problem = small(batch=3)
    rounds = Rounds(FedPOE(recent=7, labels="truth"), problem)
    for t in range(3):
        rounds.round(t)
        weights = rounds.memory.samples.weights[0]
        had = min(7, 3 * (t + 1))
        np.testing.assert_allclose(weights[7 - had :], 1 / had, rtol=0, atol=1e-16)
        assert not weights[: 7 - had].any()
    truth = [problem.view(np.arange(4), np.zeros(4, int), float(t)).truth for t in range(3)]
    assert rounds.memory.samples.labels.tolist() == np.concatenate(truth, axis=1)[:, -7:].tolist()


def test_weights_beyond_the_smallest_number_still_tell() -> None:
    logs = np.array([[-1e6, -1e6 - math.log(3), -2e6]])
    np.testing.assert_allclose(shares(logs), [[0.75, 0.25, 0.0]], rtol=0, atol=1e-10)


def test_chances_and_draws_are_those_of_a_count() -> None:
    """20,000 times three draws of three models; 4 standard deviations of a share are 0.014."""
    q = np.array([[0.7, 0.2, 0.1]])
    numbers = np.random.default_rng(1).random((20000, 3))
    met = drawn(np.repeat(q, 20000, axis=0), numbers).mean(axis=0)
    np.testing.assert_allclose(met, 1 - (1 - q[0]) ** 3, rtol=0, atol=0.014)
    np.testing.assert_allclose(chance(q[0], 3), 1 - (1 - q[0]) ** 3, rtol=1e-14)
    tiny = chance(np.array([1e-20]), 8)  # 1 - (1 - q)^8 as written is 0
    np.testing.assert_allclose(tiny, 8e-20, rtol=1e-12)


def test_mixtures_are_probabilities(problem: StreamProblem) -> None:
    rounds = Rounds(RULE, problem)
    for t in range(3):
        rounds.round(t)
    view = problem.view(rounds.everyone, rounds.everyone * 0, 3 * problem.period)
    scores = RULE.scores(problem, rounds.state, rounds.memory, view)
    np.testing.assert_allclose(scores.sum(axis=-1), 1, rtol=0, atol=1e-14)
    assert mixture(np.eye(2), np.arange(8.0).reshape(2, 2, 1, 2)).tolist() == [[[0, 1]], [[6, 7]]]


def test_bytes_and_samples_are_counted(problem: StreamProblem) -> None:
    mean, ordered = (
        FedPOE(every=2, averaging=a).phases(problem)[0] for a in ("mean", "sequential")
    )
    assert mean.download_bytes() == (1 + 3) * 90 * 8 + 8
    assert mean.upload_bytes() == 90 * 8 + 8
    assert ordered.upload_bytes() == 10 * (8 * 8 + 16) + 8
    assert mean.samples(np.arange(2), 0).tolist() == [20.0, 20.0]

"""FedCCFA against a program in torch for one client at a time, and the traps of its code."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from driftfold.algorithms.adaptation import FedCCFA
from driftfold.algorithms.adaptation.balanced import balanced_weights
from driftfold.algorithms.adaptation.class_heads import ClassHeads
from driftfold.algorithms.adaptation.clustered_heads import clustered
from driftfold.algorithms.adaptation.prototypes import (
    alignment,
    class_means,
    spread_of_classes,
)
from driftfold.errors import CapabilityError
from driftfold.nets import MiniResNet6
from driftfold.nets.layout import Entry, Layout
from driftfold.tasks.streams import StreamProblem
from driftfold.trees import rows
from tests.algorithms.adaptation.streams import Rounds, small

RULE = FedCCFA(body_rate=0.1, body_steps=2, head_steps=2, gamma=2.0)


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small()


def torch_client(
    problem: StreamProblem, rounds: Rounds, c: int, step: int
) -> tuple[Any, Any, Any, Any]:
    """Body, balanced head, own head and mean features of one client, by autograd and SGD."""
    f = torch.nn.functional
    view = problem.view(np.array([c]), np.array([rounds.rounds]), step * problem.period)
    x = torch.tensor(view.inputs[0].reshape(20, 64))
    theta = rounds.state.theta
    sizes = [(12, 64), (12,), (8, 12), (8,)]
    body, at = [], 0
    for shape in sizes:
        size = int(np.prod(shape))
        body.append(torch.tensor(theta[at : at + size].reshape(shape)).requires_grad_())
        at += size

    def tensor(head: Any) -> list[Any]:
        parts = head[:80].reshape(10, 8), head[80:]
        return [torch.tensor(part.copy()).requires_grad_() for part in parts]

    def features() -> Any:
        return f.relu(f.linear(f.relu(f.linear(x, body[0], body[1])), body[2], body[3]))

    def train(parameters: list[Any], loss: Any, rate: float, steps: int) -> None:
        sgd = torch.optim.SGD(parameters, lr=rate, momentum=0.9, weight_decay=1e-5)
        for _ in range(steps):
            sgd.zero_grad()
            loss().backward()
            sgd.step()

    own, common = tensor(rounds.memory.head[c]), tensor(problem.source.start[-90:])
    h = features().detach()
    y = f.linear(h, *own).argmax(1)
    counts = np.bincount(y.numpy(), minlength=10)
    most = min(5, counts[counts > 0].min())
    keys = view.stream("balanced samples").uniform(view.clients, view.dispatches, 20)[0]
    chosen = []
    for k in np.flatnonzero(counts):
        of_class = np.flatnonzero(y.numpy() == k)
        chosen += of_class[np.argsort(keys[of_class])][:most].tolist()
    train(common, lambda: f.cross_entropy(f.linear(h[chosen], *common), y[chosen]), 0.1, 5)
    train(own, lambda: f.cross_entropy(f.linear(h, *own), y), 0.1, 2)
    p = counts[counts > 0] / 20
    weight = float(-(p * np.log(p)).sum()) / 2.0
    known = torch.tensor(rounds.memory.known[c])
    toward = f.normalize(torch.tensor(rounds.memory.prototypes[c]), dim=1, eps=1e-12)
    fixed = [part.detach() for part in own]

    def loss() -> Any:
        h = features()
        plain = f.cross_entropy(f.linear(h, *fixed), y)
        use = known[y]
        if not bool(use.any()):
            return plain
        cos = f.normalize(h, dim=1, eps=1e-12) @ toward.T / 0.1
        cos = cos.masked_fill(~known, -1e30)
        return plain + weight * f.cross_entropy(cos[use], y[use], reduction="sum") / 20

    train(body, loss, 0.1, 2)
    h = features().detach().numpy()
    means = np.stack([h[y.numpy() == k].mean(0) if counts[k] else np.zeros(8) for k in range(10)])

    def vector(parts: Any) -> Any:
        return np.concatenate([part.detach().numpy().ravel() for part in parts])

    return vector(body), vector(common), vector(own), means


def test_clients_work_is_that_of_a_program_in_torch(problem: StreamProblem) -> None:
    """Two steps, without prototypes and with them; to 1e-10 after a dozen steps of SGD."""
    rounds = Rounds(RULE, problem)
    for step in (0, 1):
        expected = [torch_client(problem, rounds, c, step) for c in range(4)]
        sent = rounds.work(0, step).payload
        for c, (body, balanced, head, means) in enumerate(expected):
            np.testing.assert_allclose(sent.body[c], body, rtol=0, atol=1e-10)
            np.testing.assert_allclose(sent.balanced[c], balanced, rtol=0, atol=1e-10)
            np.testing.assert_allclose(sent.head[c], head, rtol=0, atol=1e-10)
            np.testing.assert_allclose(sent.means[c], means, rtol=0, atol=1e-10)
        rounds.take(0, sent)
        rounds.take(1, rounds.work(1, step).payload)
        rounds.rounds += 1
    assert rounds.memory.known.any()


def test_the_mean_body_and_the_clusters_heads_reach_the_clients(problem: StreamProblem) -> None:
    """With a radius that takes in all each row is the mean of all; with none it is one's own."""
    together, apart = (Rounds(replace(RULE, eps=eps), problem) for eps in (10.0, 1e-12))
    for rounds in (together, apart):
        sent = rounds.work(0, 0).payload
        rounds.take(0, sent)
        rounds.work(1, 0)
        np.testing.assert_allclose(
            rounds.state.theta[:-90], sent.body.mean(axis=0), rtol=0, atol=1e-13
        )
        mean = np.broadcast_to(sent.head.mean(axis=0), sent.head.shape)
        expected = mean if rounds is together else sent.head
        np.testing.assert_allclose(rounds.memory.head, expected, rtol=0, atol=1e-13)
    assert apart.memory.head.tobytes() == sent.head.tobytes()


def test_prototypes_of_clusters_do_not_overwrite_what_was_sent() -> None:
    """The released code adds up in the first member's own array: here nothing given changes."""
    rng = np.random.default_rng(1)
    rows, means = rng.standard_normal((4, 2, 3)), rng.standard_normal((4, 2, 5))
    there = np.ones((4, 2), dtype=bool)
    given = [array.copy() for array in (rows, means, there)]
    made, prototypes, _, _ = clustered(rows, rows, means, there, eps=10.0, least=1)
    for array, before in zip((rows, means, there), given, strict=True):
        assert array.tobytes() == before.tobytes()
    np.testing.assert_allclose(made, np.tile(given[0].mean(0), (4, 1, 1)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(prototypes, np.tile(given[1].mean(0), (4, 1, 1)), rtol=0, atol=1e-15)
    again = clustered(rows, rows, means, there, eps=10.0, least=1)
    assert again[1].tobytes() == prototypes.tobytes()


def test_two_clients_keep_their_heads() -> None:
    """MADD has no third client to compare with."""
    rounds = Rounds(replace(RULE, eps=10.0), small(clients=2))
    sent = rounds.work(0, 0).payload
    rounds.take(0, sent)
    rounds.work(1, 0)
    assert rounds.memory.head.tobytes() == sent.head.tobytes()
    np.testing.assert_allclose(rounds.state.theta[:-90], sent.body.mean(axis=0), rtol=0, atol=1e-13)


def test_a_class_that_nobody_in_the_cluster_has_falls_back_to_all_clients() -> None:
    """And to nothing where no client ever had it."""
    rounds = Rounds(replace(RULE, eps=1e-12), small())  # everybody is alone in each class
    sent = rounds.work(0, 0).payload
    rounds.take(0, sent)
    rounds.work(1, 0)
    there = sent.counts > 0
    for k in range(10):
        have = np.flatnonzero(there[:, k])
        for c in range(4):
            assert rounds.memory.known[c, k] == bool(len(have))
            if there[c, k]:
                assert rounds.memory.prototypes[c, k].tolist() == sent.means[c, k].tolist()
            elif len(have):
                mean = sent.means[have, k].mean(axis=0)
                np.testing.assert_allclose(rounds.memory.prototypes[c, k], mean, rtol=0, atol=1e-14)
    assert (there.any(axis=0) & ~there.all(axis=0)).any()


def test_one_class_alone_is_no_error() -> None:
    """The entropy of one class is 0, not NaN; samples are balanced over the classes there are."""
    labels = np.array([[3, 3, 3, 3, 3, 3, 3], [0, 1, 1, 1, 0, 1, 0]])
    spread = spread_of_classes(labels, 10)
    p = np.array([3, 4]) / 7
    np.testing.assert_allclose(spread, [0.0, -(p * np.log(p)).sum()], rtol=0, atol=1e-15)
    keys = np.random.default_rng(0).random((2, 7))
    weights = balanced_weights(labels, keys, 10, most=5)
    assert sorted(weights[0].tolist()) == [0, 0] + [0.2] * 5
    for k in (0, 1):
        np.testing.assert_allclose(weights[1][labels[1] == k].sum(), 0.5, rtol=1e-15)
    assert (weights[1] > 0).sum() == 6
    means, counts = class_means(np.ones((2, 7, 3)), labels, 10)
    assert np.isfinite(means).all()
    assert counts.sum(axis=1).tolist() == [7, 7]


def test_the_gradient_of_the_alignment_is_that_of_its_loss() -> None:
    """Central differences, to 1e-7; a class without prototype, and a feature that vanishes."""
    rng = np.random.default_rng(2)
    h, prototypes = rng.standard_normal((2, 4, 3)), rng.standard_normal((2, 5, 3))
    known = np.ones((2, 5), dtype=bool)
    known[:, 4] = False
    labels = np.array([[0, 1, 4, 3], [2, 2, 1, 0]])
    h[1, 3] = 0
    _, slope = alignment(h, prototypes, known, labels, 0.5)
    assert not slope[0, 2].any()
    assert not slope[1, 3].any()
    for i, place in enumerate(np.ndindex(h.shape)):
        if place[:2] == (1, 3):
            continue
        ends = []
        for sign in (1, -1):
            other = h.copy()
            other[place] += sign * 1e-6
            ends.append(alignment(other, prototypes, known, labels, 0.5)[0].sum())
        assert slope.ravel()[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def test_rounds_of_absent_clients_leave_their_rows(problem: StreamProblem) -> None:
    rounds = Rounds(RULE, problem)
    rounds.round(0)
    before, part = rounds.state.heads, np.array([0, 2, 3])
    rounds.memory, rounds.everyone = rows(rounds.memory, part), part
    rounds.take(0, rounds.work(0, 1, part).payload)
    assert rounds.state.heads[1].tobytes() == before[1].tobytes()
    assert (np.abs(rounds.state.heads[part] - before[part]).max(axis=1) > 0).all()


def test_bytes_and_samples_are_counted(problem: StreamProblem) -> None:
    first, second = RULE.phases(problem)
    body, head, prototypes = 8 * (12 * 64 + 12 + 8 * 12 + 8), 8 * 90, 8 * 80
    assert first.download_bytes() == body
    assert first.upload_bytes() == body + 2 * head + prototypes + 80
    assert second.download_bytes() == body + head + prototypes + 10
    assert first.samples(np.arange(2), 0).tolist() == [20.0 * (2 + 2 + 5)] * 2
    assert second.samples(np.arange(2), 0).tolist() == [0.0, 0.0]


def test_the_last_of_two_linear_layers_is_the_head() -> None:
    model = MiniResNet6().model((32, 32, 3), 10)
    heads = ClassHeads(model)
    heads.check()
    assert int(heads.where.sum()) == 650
    assert int(heads.in_head.sum()) == 650


def test_nets_without_a_linear_end_are_refused(problem: StreamProblem) -> None:
    class Odd:
        layout = Layout((Entry("head.weight", (9, 4)), Entry("head.bias", (9,))))
        classes = 10

    with pytest.raises(CapabilityError, match="choose another"):
        ClassHeads(Odd()).check()  # type: ignore[arg-type]

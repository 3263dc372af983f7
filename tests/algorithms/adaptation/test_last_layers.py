"""UOGD and ATLAS against loops by hand: closed forms on the features of a fixed body."""

import math
from typing import Any, Literal

import numpy as np
import pytest

from driftfold.algorithms.adaptation import ATLAS, UOGD, Frozen
from driftfold.algorithms.adaptation.last_layer import LastLayer, in_ball
from driftfold.arrays import Floats
from driftfold.errors import DataError
from driftfold.label_shift import Inverse, Ridge
from driftfold.tasks.streams import Pretraining
from tests.algorithms.adaptation.streams import Rounds, small
from tests.algorithms.adaptation.test_prior_reweighting import by_hand, confusion

PROBLEM = small(clients=2)
SOURCE, MODEL = PROBLEM.source, PROBLEM.model
LAYER = LastLayer(PROBLEM, Inverse(fix="none"))
K, D = MODEL.classes, MODEL.features
PARTS = MODEL.layout.parts(SOURCE.start)
W0, B0 = PARTS["head.weight"], PARTS["head.bias"]
reference = MODEL.forward(SOURCE.start, SOURCE.reference).features
labels = SOURCE.reference_labels
RADIUS = math.sqrt((W0**2).sum())


def risk(w: Floats, p: Floats) -> tuple[float, Floats]:
    """sum_k p_k F_0^k and its gradient in W, class by class."""
    value, gradient = 0.0, np.zeros((K, D))
    for k in range(K):
        h = reference[labels == k]
        z = h @ w.T + B0
        q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        value -= p[k] * np.log(q[:, k]).mean()
        gradient += p[k] * (q - np.eye(K)[k]).T @ h / len(h)
    return value, gradient


def projected(w: Floats) -> Floats:
    length = math.sqrt((w**2).sum())
    return w if length <= RADIUS else w * RADIUS / length


def shares(client: int, step: int) -> Floats:
    p = np.linalg.solve(confusion(PROBLEM), by_hand(PROBLEM, client, step)[1]).astype(np.float64)
    return np.maximum(p, 0)


def features(client: int, step: int) -> tuple[Floats, Floats]:
    inputs, truth = PROBLEM.stream.batch(np.array([client]), np.array([step]))
    return MODEL.forward(SOURCE.start, inputs).features[0], truth[0]


def test_uogd_over_three_steps() -> None:
    """Tolerance 1e-12: sums over examples in another order."""
    rounds = Rounds(UOGD(rate=0.4), PROBLEM)
    w = [W0.copy(), W0.copy()]
    for step in range(3):
        figures = rounds.round(step)[0].metrics
        for client in range(2):
            h, truth = features(client, step)
            right = (h @ w[client].T + B0).argmax(axis=1) == truth
            assert figures["accuracy"][client] == right.mean()  # first predicted, then stepped
            p = shares(client, step)
            np.testing.assert_allclose(rounds.memory.p[client], p, atol=1e-12)
            w[client] = projected(w[client] - 0.4 * risk(w[client], p)[1])
            got = rounds.memory.weights[client].reshape(K, D)
            np.testing.assert_allclose(got, w[client], atol=1e-12)
            right = (h @ w[client].T + B0).argmax(axis=1) == truth
            assert figures["accuracy_after"][client] == right.mean()
    assert np.abs(w[0] - w[1]).max() > 1e-3  # each client's own


def test_negative_shares_are_cut_off_and_not_renormalised() -> None:
    rounds = Rounds(UOGD(), PROBLEM)
    rounds.round(0)
    p = rounds.memory.p
    assert (p >= 0).all()
    assert (p.sum(axis=1) > 1 + 1e-3).all()


def test_weights_stay_in_the_ball_and_no_bias_moves() -> None:
    """W_0 is on the surface: at a great rate every step ends there."""
    rounds = Rounds(UOGD(rate=50.0), PROBLEM)
    rounds.round(0)
    lengths = np.linalg.norm(rounds.memory.weights, axis=1)
    np.testing.assert_allclose(lengths, RADIUS, rtol=1e-14)
    assert rounds.memory.weights.shape == (2, K * D)
    at_zero = LAYER.logits(rounds.memory.weights, np.zeros((2, 1, D)))
    np.testing.assert_array_equal(at_zero[:, 0], np.stack([B0, B0]))
    inside = np.full((1, 3), 0.1)
    assert in_ball(inside, 1.0).tobytes() == inside.tobytes()


def test_constants_of_the_bound() -> None:
    """D = 2 ||W_0||; no gradient in the ball is much longer than G; sigma is that of M."""
    assert abs(LAYER.radius - RADIUS) < 1e-12
    assert abs(LAYER.sigma - np.linalg.svd(confusion(PROBLEM))[1].min()) < 1e-12
    rng, longest = np.random.default_rng(1), 0.0
    for _ in range(200):
        way = rng.normal(size=(K, D))
        w = way * RADIUS * rng.uniform() ** (1 / (K * D)) / np.linalg.norm(way)
        longest = max(longest, float(np.linalg.norm(risk(w, rng.dirichlet(np.ones(K)))[1])))
    assert 0.6 < LAYER.steepest / longest < 1.6  # largest of 100 and of 200 draws
    (phase,) = UOGD().phases(PROBLEM)
    assert abs(phase.rate - 2 * RADIUS / (LAYER.steepest * math.sqrt(6))) < 1e-12  # type: ignore[attr-defined]


def test_the_layer_is_the_last_linear_one_alone() -> None:
    assert LAYER.where.sum() == K * D
    assert LAYER.start.reshape(K, D).tobytes() == W0.tobytes()


@pytest.mark.parametrize("combine", ["parameters", "predictions"])
@pytest.mark.parametrize("delayed", [False, True])
@pytest.mark.parametrize("meta", ["decaying", "constant"])
def test_atlas_over_three_steps(combine: Any, delayed: bool, meta: Any) -> None:
    """Losses are measured before each learner's step; delayed, q_{t+1} knows those up to t - 1."""
    rule = ATLAS(combine=combine, delayed=delayed, meta=meta)
    rounds, rates = Rounds(rule, PROBLEM), rule.pool(LAYER)
    count, horizon = len(rates), PROBLEM.stream.steps
    for client in range(2):
        w, q = [W0.copy() for _ in rates], np.full(count, 1 / count)
        late = np.zeros(count)
        for step in range(3):
            if client == 0:
                rounds.round(step)
            figures = rounds_figures(rule, step)
            h, truth = features(client, step)
            assert figures["accuracy"][client] == (answers(w, q, h, combine) == truth).mean()
            assert abs(figures["rate"][client] - q @ rates) < 1e-12
            p = shares(client, step)
            losses = np.array([risk(each, p)[0] for each in w])
            w = [projected(w[i] - rates[i] * risk(w[i], p)[1]) for i in range(count)]
            bound = 2 * RADIUS * LAYER.steepest
            eps = {
                "decaying": min(1.0, 1 / (bound * math.sqrt(step + 1))),
                "constant": 2 * math.sqrt(math.log(count) / horizon),
            }[meta]
            q = q * np.exp(-eps * (late if delayed else losses))
            q, late = q / q.sum(), losses
        np.testing.assert_allclose(
            rounds.memory.weights[client].reshape(count, K, D), w, atol=1e-12
        )
        got = np.exp(rounds.memory.logs[client])
        np.testing.assert_allclose(got / got.sum(), q, rtol=1e-11)


def answers(w: list[Floats], q: Floats, h: Floats, combine: str) -> Any:
    if combine == "parameters":
        return (h @ sum(q[i] * w[i] for i in range(len(q))).T + B0).argmax(axis=1)
    each = [np.exp(h @ one.T + B0) for one in w]
    return sum(q[i] * each[i] / each[i].sum(axis=1, keepdims=True) for i in range(len(q))).argmax(
        axis=1
    )


_runs: dict[ATLAS, list[Any]] = {}


def rounds_figures(rule: ATLAS, step: int) -> Any:
    """Figures of all steps of a rule, run once."""
    if rule not in _runs:
        rounds = Rounds(rule, PROBLEM)
        _runs[rule] = [rounds.round(t)[0].metrics for t in range(3)]
    return _runs[rule][step]


@pytest.mark.parametrize(("horizon", "count"), [(6, 3), (100, 5), (1000, 7)])
def test_the_papers_rates(horizon: int, count: int) -> None:
    layer = LastLayer(small(clients=2, steps=horizon), Inverse(fix="none"))
    rates = ATLAS().pool(layer)
    assert len(rates) == count
    first = 2 * layer.radius * layer.sigma / (2 * layer.steepest * math.sqrt(K * horizon))
    np.testing.assert_allclose(rates, first * 2.0 ** np.arange(count), rtol=1e-14)


@pytest.mark.parametrize(("share", "factors"), [(None, 3), (0.6, 2), (0.1, 1)])
def test_the_codes_rates(share: float | None, factors: int) -> None:
    """From D / (G sqrt T), T = 6, doubling: .41, .82 (the last up to 1), and one more."""
    largest = 2 * RADIUS / LAYER.steepest
    rule = ATLAS(rates="code", largest=None if share is None else share * largest)
    wanted = largest / math.sqrt(6) * 2.0 ** np.arange(factors)
    np.testing.assert_allclose(rule.pool(LAYER), wanted, rtol=1e-14)


def test_one_learner_is_uogd_bit_for_bit() -> None:
    one, plain = Rounds(ATLAS(rates="code", largest=1e-9), PROBLEM), Rounds(UOGD(), PROBLEM)
    for step in range(3):
        one.round(step)
        plain.round(step)
    assert one.memory.weights[:, 0].tobytes() == plain.memory.weights.tobytes()


@pytest.mark.parametrize("rule", [UOGD(rate=5.0), ATLAS(rates="code")], ids=["uogd", "atlas"])
def test_all_predict_first(rule: UOGD | ATLAS) -> None:
    """The trap: code that updates before it predicts, where others predict first."""
    rounds, frozen = Rounds(rule, PROBLEM), Rounds(Frozen(), PROBLEM)
    first = [each.round(0)[0].metrics["accuracy"].tolist() for each in (rounds, frozen)]
    assert first[0] == first[1]
    assert rounds.state.theta.tobytes() == SOURCE.start.tobytes()


@pytest.mark.parametrize(
    ("rule", "learners"), [(UOGD(), 1), (ATLAS(), 3), (ATLAS(rates="code"), 3)]
)
def test_each_learner_costs_the_reference_and_nothing_is_sent(rule: Any, learners: int) -> None:
    (phase,) = rule.phases(PROBLEM)
    assert phase.samples(np.arange(3), 0).tolist() == [learners * 30.0] * 3
    assert phase.download_bytes() == phase.upload_bytes() == 0


def test_what_cannot_move_or_cannot_be_had_is_told_before_the_run() -> None:
    """A model that names one class only: M has no inverse, and sigma is 0."""
    lazy = small(clients=1, pretraining=Pretraining(epochs=1, rate=1e-6))
    for rule in (UOGD(), ATLAS()):
        with pytest.raises(DataError, match="confusion matrix has no inverse"):
            rule.check(lazy)
    with pytest.raises(DataError, match="nothing would move"):
        ATLAS(Ridge()).check(lazy)
    ATLAS(Ridge(), rates="code").check(lazy)


def test_more_rounds_of_a_step_are_more_steps_with_the_same_shares() -> None:
    rounds = Rounds(UOGD(rate=0.4), PROBLEM)
    rounds.round(0)
    p = rounds.memory.p.copy()
    rounds.round(0)
    assert rounds.memory.p.tobytes() == p.tobytes()
    wanted = W0
    for _ in range(2):
        wanted = projected(wanted - 0.4 * risk(wanted, p[0])[1])
    np.testing.assert_allclose(rounds.memory.weights[0].reshape(K, D), wanted, atol=1e-12)


PRECISIONS: list[Literal["float32", "float64"]] = ["float32", "float64"]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_types_are_kept(precision: Literal["float32", "float64"]) -> None:
    rounds = Rounds(ATLAS(combine="predictions"), small(clients=1, precision=precision))
    rounds.round(0)
    assert rounds.memory.weights.dtype == precision
    assert rounds.memory.logs.dtype == np.float64

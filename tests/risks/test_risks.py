"""Gradients of risks against finite differences, and what enters them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from driftfold.nets.losses import cross_entropy, entropy
from driftfold.risks import BbsePseudo, BbseSource, Entropy, PseudoLabels, Scene, Truth
from driftfold.risks.base import Risk, Slope
from driftfold.trees import spread
from tests.algorithms.adaptation.streams import small

PROBLEM = small()
EVERYONE = np.arange(4)
VIEW = PROBLEM.view(EVERYONE, EVERYONE, 3 * PROBLEM.period)
THETA = PROBLEM.source.start + 0.05 * np.sin(
    np.arange(4)[:, None] + np.arange(len(PROBLEM.source.start))
)
SCENE = Scene.of(PROBLEM, VIEW)


def considered(risk: Risk) -> Any:
    memory = risk.begin(PROBLEM)
    belief, _ = risk.consider(PROBLEM, THETA, VIEW, None if memory is None else spread(memory, 4))
    return belief


def test_the_risk_of_the_paper_is_the_weighted_sum_over_classes() -> None:
    """Statement 8: grad F = sum_k p_k grad F_0^k, each F_0^k by finite differences (1e-6)."""
    risk = BbseSource()
    p = considered(risk)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    got = risk.slope(THETA, SCENE, p)
    source, model = PROBLEM.source, PROBLEM.model

    def value(theta: Any) -> Any:
        losses, _ = cross_entropy(
            model.forward(theta, source.reference).logits,
            np.broadcast_to(source.reference_labels, (4, len(source.reference_labels))),
        )
        each = losses.reshape(4, model.classes, source.each).mean(axis=2)
        return (p * each).sum(axis=1)

    _agrees(got, value)


@pytest.mark.parametrize("risk", [Entropy(), PseudoLabels(), Truth(), BbsePseudo()], ids=repr)
def test_gradients_are_those_of_the_values(risk: Risk) -> None:
    belief, inputs = considered(risk), VIEW.inputs
    labels = PROBLEM.model.forward(THETA, inputs).logits.argmax(axis=-1)
    weights = np.ones(labels.shape)
    if isinstance(risk, Truth):
        labels = VIEW.truth
    if isinstance(risk, BbsePseudo):
        weights = np.take_along_axis(belief, labels, axis=1)

    def value(theta: Any) -> Any:
        logits = PROBLEM.model.forward(theta, inputs).logits
        if isinstance(risk, Entropy):
            return entropy(logits)[0].mean(axis=1)
        return (weights * cross_entropy(logits, labels)[0]).mean(axis=1)

    _agrees(risk.slope(THETA, SCENE, belief), value)


def _agrees(slope: Slope, value: Any) -> None:
    """Along three directions; steps of 1e-5 leave 1e-8 of rounding and truncation."""
    np.testing.assert_allclose(slope.value, value(THETA), rtol=1e-13)
    for turn in range(3):
        way = np.cos((turn + 1) * np.arange(THETA.shape[1]) ** 1.5)
        change = (value(THETA + 1e-5 * way) - value(THETA - 1e-5 * way)) / 2e-5
        np.testing.assert_allclose((slope.gradient * way).sum(axis=1), change, rtol=1e-6, atol=1e-8)


def test_the_batch_enters_the_risk_of_the_paper_through_p_alone() -> None:
    """Statement 8: with p given, other inputs change nothing."""
    risk = BbseSource()
    p = considered(risk)
    other = replace(SCENE, inputs=np.zeros_like(SCENE.inputs))
    one, two = (risk.slope(THETA, scene, p).gradient for scene in (SCENE, other))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("risk", [BbseSource(), Entropy(), BbsePseudo()], ids=repr)
def test_a_head_on_features_has_the_head_s_gradient(risk: Risk) -> None:
    head = PROBLEM.model.layout.where(PROBLEM.model.head)
    belief = considered(risk)
    whole = risk.slope(THETA, SCENE, belief, only=head).gradient[:, head]
    beyond = SCENE.beyond_body(THETA)
    alone = risk.slope(np.ascontiguousarray(THETA[:, head]), beyond, belief).gradient
    assert whole.tobytes() == alone.tobytes()


def test_predictions_of_the_present_model_need_its_own_confusion() -> None:
    start, current = BbseSource(), BbseSource(model="current")
    frozen = np.broadcast_to(PROBLEM.source.start, THETA.shape)
    memory = start.begin(PROBLEM)
    both = [
        r.consider(PROBLEM, frozen, VIEW, None if memory is None else spread(memory, 4))[0]
        for r in (start, current)
    ]
    np.testing.assert_allclose(both[0], both[1], atol=1e-12)  # the same model, measured twice
    moved = current.consider(PROBLEM, THETA, VIEW, None)[0]
    assert np.abs(moved - both[0]).max() > 1e-3


def test_the_examples_go_through_one_body_once() -> None:
    """Whichever head is behind it; the bits are those of a pass of their own."""
    source, model = PROBLEM.source, PROBLEM.model
    head = model.layout.where(model.head)
    one, other = THETA[0], np.where(head, THETA[1], THETA[0])
    made = source.reference_features(one)
    assert source.reference_features(other) is made
    scenes = [SCENE.beyond_body(theta) for theta in (one, other)]
    assert scenes[0].reference is scenes[1].reference is made
    assert made.tobytes() == model.forward(one, source.reference).features.tobytes()
    moved = source.reference_features(THETA[1])
    assert moved.tobytes() == model.forward(THETA[1], source.reference).features.tobytes()
    assert moved.tobytes() != made.tobytes()

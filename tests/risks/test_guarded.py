"""When a risk is left for another, by whom, and that it is counted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE, Hedge
from driftfold.algorithms.adaptation.adaptive_fedavg import AdaptiveFedAvg
from driftfold.errors import DataError
from driftfold.label_shift import Inverse, RunningMean, negative_mass
from driftfold.label_shift.solving import solved
from driftfold.nets import Mlp
from driftfold.rates import FixedRate
from driftfold.risks import BbseSource, Entropy, GuardedRisk, Scene
from driftfold.risks.guarded import unexplained
from driftfold.softmax import softmax
from driftfold.tasks.streams import Pretraining
from driftfold.trees import spread
from tests.algorithms.adaptation.streams import Rounds, small

PROBLEM = small(pretraining=Pretraining(epochs=40, rate=1e-2))
EVERYONE = np.arange(4)
VIEW = PROBLEM.view(EVERYONE, EVERYONE, 3 * PROBLEM.period)
THETA = np.repeat(PROBLEM.source.start[None], 4, axis=0)
SCENE = Scene.of(PROBLEM, VIEW)
NEVER = GuardedRisk(sigma=0.0, negative=9.0, moved=1.0)
ALWAYS = replace(NEVER, sigma=2.0)


def believed(risk: GuardedRisk) -> Any:
    return risk.consider(PROBLEM, THETA, VIEW, spread(risk.begin(PROBLEM), 4))


def masses() -> Any:
    said = softmax(PROBLEM.model.forward(PROBLEM.source.start, VIEW.inputs).logits)
    facts = PROBLEM.source.facts()
    return negative_mass(solved(facts.confusion, facts.predicted(said)))


def test_it_is_the_one_or_the_other_bit_for_bit() -> None:
    """All trusted, none, and some, whose own risk is used for each."""
    p, _ = BbseSource().consider(PROBLEM, THETA, VIEW, None)
    own = BbseSource().slope(THETA, SCENE, p), Entropy().slope(THETA, SCENE, np.zeros((4, 0)))
    some = replace(NEVER, negative=float(np.median(masses())))
    split = masses() <= some.negative
    assert 0 < split.sum() < 4
    for risk, trusted in ((NEVER, split | True), (ALWAYS, split & False), (some, split)):
        belief, _ = believed(risk)
        assert belief.trusted.tolist() == trusted.tolist()
        assert risk.told(belief)["fallback"].tolist() == (1.0 - trusted).tolist()
        got = risk.slope(THETA, SCENE, belief)
        for name in ("gradient", "value"):
            one, other = (getattr(slope, name) for slope in own)
            which = trusted.reshape(-1, *[1] * (one.ndim - 1))
            assert getattr(got, name).tobytes() == np.where(which, one, other).tobytes()


def test_what_is_not_trusted_is_not_remembered() -> None:
    risk = replace(
        NEVER, of=BbseSource(RunningMean(Inverse())), negative=float(np.median(masses()))
    )
    fresh = risk.begin(PROBLEM)[0]
    belief, (mine, _) = believed(risk)
    for count, trusted in zip(mine.count, belief.trusted, strict=True):
        assert (count > fresh.count) == trusted


def test_a_matrix_without_an_inverse_is_left_alone() -> None:
    lazy = small(pretraining=Pretraining(epochs=1, rate=1e-6))
    with pytest.raises(DataError, match="no inverse"):
        FedADE().check(lazy)
    rounds = Rounds(FedADE(risk=GuardedRisk(), rate=FixedRate(0.1)), lazy)
    assert rounds.round(0)[0].metrics["fallback"].tolist() == [1.0] * 4
    entropy = Rounds(FedADE(risk=Entropy(), rate=FixedRate(0.1)), lazy)
    entropy.round(0)
    assert rounds.memory.personal.tobytes() == entropy.memory.personal.tobytes()
    assert rounds.state.theta.tobytes() == entropy.state.theta.tobytes()


@pytest.mark.parametrize("system", [FedADE, Hedge, AdaptiveFedAvg], ids=lambda s: s.__name__)
def test_falling_back_is_counted(system: Any) -> None:
    for risk, share in ((NEVER, 0.0), (ALWAYS, 1.0)):
        figures = Rounds(system(risk=risk), PROBLEM).round(0)[0].metrics
        assert figures["fallback"].tolist() == [share] * 4
        assert figures["unexplained"].shape == (4,)


def test_features_that_label_shift_explains_are_near_zero_and_others_are_not() -> None:
    """Labels of one class or of all alike; features turned about by a fixed sign change."""
    source, k = PROBLEM.source, 10
    facts, labels = source.facts(), source.held_out_labels
    said, shown = source.held_out_probabilities, source.held_out_features
    rows = np.stack([np.flatnonzero(labels == c)[:25] for c in range(k)])
    assert unexplained(source, facts, said[rows], shown[rows]).max() < 0.01
    turned = shown[rows] * np.where(np.arange(shown.shape[-1]) % 2, -1, 1)
    assert (unexplained(source, facts, said[rows], turned) > 0.1).all()
    mixed = rows.T.reshape(1, -1)
    assert unexplained(source, facts, said[mixed], shown[mixed])[0] < 0.002
    assert unexplained(source, facts, said[rows[:, :0]], shown[rows[:, :0]]).tolist() == [0.0] * k


def test_the_mean_directions_of_classes_have_unbiased_lengths() -> None:
    """By hand, from pairs."""
    source = PROBLEM.source
    means, products = source.directions
    shown = source.held_out_features
    units = shown / np.linalg.norm(shown, axis=1, keepdims=True)
    for k in (0, 7):
        mine = units[source.held_out_labels == k]
        np.testing.assert_allclose(means[k], mine.mean(axis=0), atol=1e-12)
        pairs = mine @ mine.T
        n = len(mine)
        assert products[k, k] == pytest.approx((pairs.sum() - np.trace(pairs)) / (n * (n - 1)))
    np.testing.assert_allclose(products[0, 7], means[0] @ means[7], atol=1e-12)


def test_twice_the_net_is_gone_through_at_most() -> None:
    wide = small(net=Mlp((6, 5)))
    assert NEVER.examples(wide) == max(30, 20)
    assert replace(NEVER, of=Entropy()).examples(wide) == 20

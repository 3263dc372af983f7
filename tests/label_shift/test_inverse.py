"""Black box shift estimation: numbers that are known, and what comes back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Floats
from driftfold.errors import DataError
from driftfold.label_shift import Inverse, Ridge, Rlls, SourceFacts
from driftfold.label_shift.base import LabelEstimate
from tests.label_shift.sources import a_source, batches

M = np.array([[0.9, 0.2], [0.1, 0.8]])


def source_of(confusion: Floats) -> SourceFacts:
    k = confusion.shape[-1]
    return SourceFacts(confusion, np.full(k, 1 / k), np.eye(k), np.arange(k), soft=True)


def estimated(rule: LabelEstimate[None], source: SourceFacts, predicted: Floats) -> Floats:
    """Estimate of a batch of one sample whose probabilities are the shares of predictions."""
    p: Floats = rule.estimate(None, source, predicted[None, None])[0][0]
    return p


@pytest.mark.parametrize(
    ("predicted", "raw", "clipped"),
    [
        ([0.55, 0.45], [0.5, 0.5], [0.5, 0.5]),
        ([0.95, 0.05], [1.071429, -0.071429], [1, 0]),
        ([0.2, 0.8], [0, 1], [0, 1]),
    ],
)
def test_published_numbers(predicted: list[float], raw: list[float], clipped: list[float]) -> None:
    source, g = source_of(M), np.array(predicted)
    assert np.abs(estimated(Inverse("none"), source, g) - raw).max() < 1e-6
    assert np.abs(estimated(Inverse(), source, g) - clipped).max() < 1e-6
    assert np.abs(estimated(Inverse("simplex"), source, g) - clipped).max() < 1e-6


def test_where_nothing_is_confused_predictions_are_the_shares() -> None:
    g = np.array([0.3, 0.1, 0.6])
    assert np.array_equal(estimated(Inverse("none"), source_of(np.eye(3)), g), g)


@settings(max_examples=12)
@given(st.integers(2, 6), st.integers(0, 100))
def test_shares_come_back_from_their_predictions(classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = 0.7 * np.eye(classes) + 0.3 * rng.dirichlet(np.ones(classes), classes).T
    p = rng.dirichlet(np.ones(classes))
    rules: tuple[LabelEstimate[None], ...] = (
        Inverse("none"), Inverse(), Ridge(1e-12), Ridge(1e-12, of="weights"), Rlls(scale=1e-7),
    )  # fmt: skip
    for rule in rules:
        # Columns of M have 0.4 more on the diagonal than beside it: no digit is lost to M^-1; the
        # ridge and the first s of RLLS cost some 1e-10.
        assert np.abs(estimated(rule, source_of(m), m @ p) - p).max() < 1e-8, rule


def test_a_matrix_without_inverse_says_what_helps() -> None:
    source = source_of(np.array([[1.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(DataError, match=r"no inverse: some class is never predicted.*'ridge'"):
        estimated(Inverse(), source, np.array([1.0, 0.0]))
    assert np.allclose(estimated(Ridge(), source, np.array([1.0, 0.0])), 0.5)
    assert np.allclose(estimated(Rlls(), source, np.array([1.0, 0.0])), 0.5)


def test_a_matrix_for_each_client() -> None:
    source = a_source()
    said = batches(np.full((3, 4), 0.25), 40, 5)
    own = np.stack([source.confusion, np.eye(4), 0.5 * source.confusion + 0.5 * np.eye(4)])
    together = Inverse().estimate(None, source.seen_by(own), said)[0]
    for i in range(3):
        alone = Inverse().estimate(None, source.seen_by(own[i]), said[i : i + 1])[0]
        assert np.array_equal(alone[0], together[i])


def test_ridge_agrees_with_its_normal_equations() -> None:
    source, said = a_source(), batches(np.array([[0.4, 0.3, 0.2, 0.1]]), 50, 3)
    g = source.predicted(said)[0]
    joint = source.confusion * source.prior
    strength = 1 / 50  # fewer than the 120 held out
    w = np.linalg.solve(joint.T @ joint + strength * np.eye(4), joint.T @ g)
    expected = np.maximum(w * source.prior, 0)
    got = Ridge(of="weights").estimate(None, source, said)[0][0]
    assert np.abs(got - expected / expected.sum()).max() < 1e-13


def test_another_number_of_classes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"wanted \(clients, n, 4\)"):
        Inverse().estimate(None, a_source(), np.ones((2, 5, 3)))

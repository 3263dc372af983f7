"""Confusion matrices, and what is measured of a source."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.errors import DataError
from driftfold.label_shift import confusion_matrix, histogram, source_facts
from tests.label_shift.sources import a_source, predictions


@settings(max_examples=25)
@given(st.integers(2, 6), st.booleans(), st.integers(0, 50))
def test_columns_sum_to_one_and_m_maps_shares_to_shares_of_predictions(
    classes: int, soft: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, 40)])
    said = predictions(labels, classes, seed)
    m = confusion_matrix(said, labels, soft)
    assert np.abs(m.sum(axis=0) - 1).max() < 1e-14  # sums of K terms of at most 1
    frequencies = np.bincount(labels, minlength=classes) / len(labels)
    assert np.abs(m @ frequencies - histogram(said, soft)).max() < 1e-14


def test_counts_of_a_table_that_is_known() -> None:
    said = np.eye(3)[[0, 0, 1, 1, 2, 0]]
    m = confusion_matrix(said, np.array([0, 0, 0, 1, 2, 2]))
    assert np.allclose(m, [[2 / 3, 0, 1 / 2], [1 / 3, 1, 0], [0, 0, 1 / 2]], atol=1e-15)


def test_models_of_their_own_have_matrices_of_their_own() -> None:
    labels = np.array([0, 1, 0, 1])
    said = np.stack([predictions(labels, 2, seed) for seed in range(3)])
    together = confusion_matrix(said, labels)
    for one, m in zip(said, together, strict=True):
        assert np.array_equal(confusion_matrix(one, labels), m)


def test_a_class_without_examples_is_told() -> None:
    with pytest.raises(DataError, match=r"class 1, 3 of 4; .* hold out examples of every class"):
        confusion_matrix(np.eye(4)[[0, 2]], np.array([0, 2]))


@pytest.mark.parametrize("wrong", [-1, 2])
def test_a_label_that_is_no_class_is_told(wrong: int) -> None:
    with pytest.raises(DataError, match=f"label {wrong} where there are 2 classes"):
        confusion_matrix(np.eye(2), np.array([0, wrong]))


def test_of_equally_likely_classes_the_first_counts() -> None:
    assert histogram(np.full((5, 3), 1 / 3)).tolist() == [1, 0, 0]


def test_float32_counts_like_float64() -> None:
    said = predictions(np.arange(20) % 4, 4, 1).astype(np.float32)
    for soft in (False, True):
        assert np.array_equal(histogram(said, soft), histogram(said.astype(np.float64), soft))


def test_the_prior_is_the_labels_frequencies_unless_it_is_given() -> None:
    said, labels = np.eye(2)[[0, 0, 1]], np.array([0, 0, 1])
    assert np.allclose(source_facts(said, labels).prior, [2 / 3, 1 / 3])
    assert source_facts(said, labels, np.array([0.5, 0.5])).prior.tolist() == [0.5, 0.5]
    assert source_facts(said, labels).samples == 3


def test_facts_of_another_model_keep_everything_but_the_matrix() -> None:
    source = a_source()
    other = source.seen_by(np.eye(4))
    assert np.array_equal(other.confusion, np.eye(4))
    assert other.prior is source.prior
    assert other.samples == source.samples
    assert other.calibration is source.calibration

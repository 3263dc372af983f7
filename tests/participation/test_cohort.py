from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.participation.cohort import cohort_weights, empty_probability
from tests.participation.fleets import PUBLISHED


def enumerated(p: Floats) -> Floats:
    """E[1{i in S} / |S|] by the sum over all cohorts S."""
    total = np.zeros(len(p))
    for answers in product((False, True), repeat=len(p)):
        member = np.array(answers)
        if member.any():
            total[member] += np.prod(np.where(member, p, 1 - p)) / member.sum()
    return total


def multiplied_out(p: list[Fraction]) -> list[Fraction]:
    """The same by exact polynomial multiplication: the integrand's coefficients over k + 1."""
    result = []
    for i, own in enumerate(p):
        coefficients = [Fraction(1)]
        for other in p[:i] + p[i + 1 :]:
            shifted = [Fraction(0), *(other * c for c in coefficients)]
            kept = [*((1 - other) * c for c in coefficients), Fraction(0)]
            coefficients = [a + b for a, b in zip(shifted, kept, strict=True)]
        result.append(own * sum(c / (k + 1) for k, c in enumerate(coefficients)))
    return result


def by_counts(p: Floats, i: int) -> float:
    """The same for one client from the law of the number of other responders."""
    law = np.ones(1)
    for other in np.delete(p, i):
        law = np.convolve(law, [1 - other, other])
    return float(p[i] * np.sum(law / np.arange(1, len(p) + 1)))


def test_three_clients() -> None:
    """T5: the numbers of the formula, and its sum."""
    p = np.array([0.9, 0.5, 0.1])
    np.testing.assert_allclose(cohort_weights(p), [0.645, 0.265, 0.045], rtol=1e-14)
    np.testing.assert_allclose(cohort_weights(p).sum(), 0.955, rtol=1e-14)
    np.testing.assert_allclose(empty_probability(p), 0.045, rtol=1e-14)
    np.testing.assert_allclose(cohort_weights(p, pick_one_if_empty=True), [0.66, 0.28, 0.06])


@pytest.mark.parametrize("size", [1, 2, 5, 10])
def test_agrees_with_the_sum_over_all_cohorts(size: int) -> None:
    p = np.random.default_rng(size).uniform(size=size)
    np.testing.assert_allclose(cohort_weights(p), enumerated(p), rtol=1e-13)


def test_agrees_with_rational_arithmetic_on_the_published_probabilities() -> None:
    exact = multiplied_out([Fraction(float(value)).limit_denominator(10**6) for value in PUBLISHED])
    p = np.array([float(Fraction(float(v)).limit_denominator(10**6)) for v in PUBLISHED])
    np.testing.assert_allclose(cohort_weights(p), [float(value) for value in exact], rtol=1e-13)


@pytest.mark.parametrize("low", [0.0, 0.98])
def test_agrees_with_the_law_of_counts_for_a_thousand_clients(low: float) -> None:
    p = np.random.default_rng(7).uniform(low, 1.0, 1000)
    weights = cohort_weights(p)
    for i in (0, 500, int(p.argmin()), int(p.argmax())):
        # The quadrature's nodes and weights are good to about 1e-15.
        np.testing.assert_allclose(weights[i], by_counts(p, i), rtol=1e-12, atol=3e-15)


def test_published_probabilities_are_reweighted_by_a_factor_of_thirty() -> None:
    weights = cohort_weights(PUBLISHED)
    scaled = len(PUBLISHED) * weights
    assert [round(scaled.min(), 3), round(scaled.max(), 3)] == [0.054, 1.727]
    assert np.abs(PUBLISHED / PUBLISHED.sum() / weights - 1).max() < 0.04


@pytest.mark.parametrize("size", [3, 40, 1000, 10_000])
def test_total_is_the_probability_that_anybody_answers(size: int) -> None:
    p = np.random.default_rng(size).uniform(size=size) / size
    total = cohort_weights(p).sum()
    np.testing.assert_allclose(total, 1 - empty_probability(p), rtol=1e-12)
    assert 0 < empty_probability(p) < 1
    np.testing.assert_allclose(cohort_weights(p, pick_one_if_empty=True).sum(), 1.0, rtol=1e-12)


def test_certain_and_silent_clients() -> None:
    np.testing.assert_allclose(cohort_weights(np.ones(1000)), np.full(1000, 1e-3), atol=3e-15)
    np.testing.assert_allclose(cohort_weights(np.array([1.0, 0.0])), [1.0, 0.0], atol=1e-15)
    picked = cohort_weights(np.zeros(4), pick_one_if_empty=True)
    np.testing.assert_allclose(picked, np.full(4, 0.25), rtol=1e-15)


@pytest.mark.parametrize(
    "p", [np.array([0.5, 1.1]), np.array([np.nan]), np.ones((2, 2)), np.ones(0)]
)
def test_what_is_no_vector_of_probabilities_is_refused(p: Floats) -> None:
    with pytest.raises(SpecError, match=r"give one p_i in \[0, 1\]"):
        cohort_weights(p)

import numpy as np
import pytest

from driftfold.estimators.diagnostics import effective_size, largest_multiplier, squared_bias


def test_effective_size_of_equal_and_of_one_sided_weights() -> None:
    assert effective_size(np.full(7, 0.3)) == pytest.approx(7.0)
    assert effective_size(np.array([1.0, 1e-9, 1e-9])) == pytest.approx(1.0)
    assert effective_size(np.array([1.0, 2.0])) == pytest.approx(9 / 5)
    assert effective_size(np.zeros(3)) == 0.0


def test_effective_size_ignores_scale() -> None:
    weights = np.random.default_rng(0).uniform(size=9)
    assert effective_size(100 * weights) == pytest.approx(effective_size(weights), rel=1e-14)


def test_largest_multiplier_passes_over_clients_of_no_importance() -> None:
    assert largest_multiplier(np.array([0.5, 3.0]), np.array([0.25, 0.0])) == 2.0
    assert largest_multiplier(np.zeros(0), np.zeros(0)) == 0.0


def test_true_probabilities_have_no_bias() -> None:
    rng = np.random.default_rng(1)
    importance, p = rng.dirichlet(np.ones(6)), rng.uniform(0.1, 1.0, 6)
    assert squared_bias(importance / p, importance, p) == pytest.approx(0.0, abs=1e-25)
    assert squared_bias(importance, importance, p) == pytest.approx(np.sum((p - 1) ** 2))

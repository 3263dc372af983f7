import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.tasks.kernel_ridge import ridge_weights


def test_weights_solve_the_ridge_problem() -> None:
    """(G + ridge I)^-1 g, entry by entry from the definition."""
    rng = np.random.default_rng(0)
    features, query = rng.random((7, 3)), rng.random(3)

    def kernel(a: object, b: object) -> float:
        return float(np.exp(-np.sum((np.asarray(a) - np.asarray(b)) ** 2) / (2 * 0.4**2)))

    gram = np.array([[kernel(a, b) for b in features] for a in features])
    near = np.array([kernel(a, query) for a in features])
    wanted = np.linalg.inv(gram + 0.01 * np.eye(7)) @ near
    assert np.allclose(ridge_weights(features, query, 0.4, 0.01), wanted, rtol=1e-10)


def test_a_small_ridge_makes_a_sample_at_the_query_decide() -> None:
    features = np.array([[0.0], [0.1], [1.0]])
    weights = ridge_weights(features, features[1], 0.3, 1e-12)
    assert np.allclose(weights, [0, 1, 0], atol=1e-9)


def test_a_singular_kernel_is_told() -> None:
    with pytest.raises(SpecError, match="use a larger ridge"):
        ridge_weights(np.zeros((2, 1)), np.zeros(1), 1.0, 1e-300)


def test_any_bandwidth_gives_a_kernel() -> None:
    """Squares of bandwidths as small or large as these are 0 or infinite."""
    features, query = np.array([[0.0], [1.0]]), np.array([0.0])
    assert ridge_weights(features, query, 1e-300, 1.0).tolist() == [0.5, 0.0]
    np.testing.assert_allclose(ridge_weights(features, query, 1e300, 1.0), 1 / 3, rtol=1e-14)

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.manifolds import Lorentz
from driftfold.rng import Seed
from driftfold.tasks.hyperbolic_newton import nearest_minimum

PLANE = Lorentz(2)


def objective(targets: Floats, weights: Floats, x: Floats) -> float:
    return float(weights @ PLANE.dist(x, targets) ** 2)


@pytest.mark.parametrize("seed", range(5))
def test_signed_weights_have_a_minimum_where_the_gradient_vanishes(seed: int) -> None:
    """As in kernel regression, where half of the weights are negative."""
    rng = np.random.default_rng(seed)
    targets = PLANE.random_point(Seed(seed).stream("targets"), np.arange(20))
    weights = rng.standard_normal(20)
    weights += 1 / 20 - weights.mean() + 0.3
    start = np.array([3.0, -2.0])
    x = nearest_minimum(PLANE, targets, weights, start)
    gradient = -2 * weights @ PLANE.log(x, targets)
    assert np.abs(gradient).max() < 1e-13
    value = objective(targets, weights, x)
    assert value <= objective(targets, weights, start)
    for angle in np.linspace(0, np.pi, 8):
        u = 1e-3 * np.array([np.cos(angle), np.sin(angle)])
        ends = [objective(targets, weights, PLANE.exp(x, e * u)) for e in (-1, 1)]
        assert sum(ends) > 2 * value  # curvature is positive in each direction


def test_a_saddle_on_the_way_is_left() -> None:
    """From the point between two targets of negative weight, where the gradient is small."""
    targets = np.array([[20.0, 0.0], [-20.0, 0.0], [0.0, 6.0], [0.0, -6.0]])
    weights = np.array([-1.0, -1.0, 1.2, 1.2])
    start = np.array([1e-3, 1e-3])
    x = nearest_minimum(PLANE, targets, weights, start)
    assert objective(targets, weights, x) < objective(targets, weights, start)
    assert np.abs(weights @ PLANE.log(x, targets)).max() < 1e-12


def test_a_target_itself_may_be_the_start() -> None:
    target = np.array([0.5, 0.25])
    assert np.array_equal(nearest_minimum(PLANE, target[None], np.ones(1), target), target)

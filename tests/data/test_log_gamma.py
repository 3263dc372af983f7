import numpy as np
import pytest
from scipy import stats

from driftfold.data.log_gamma import log_gamma
from driftfold.rng import Seed


@pytest.mark.parametrize("shape", [0.05, 0.5, 1.0, 3.0, 200.0])
def test_variates_follow_the_gamma_distribution(shape: float) -> None:
    drawn = log_gamma(Seed(11).stream("test"), shape, rows=40, count=100).ravel()
    # Kolmogorov and Smirnov against scipy, 4,000 draws, of a fixed seed: p < 0.001 would be a bug.
    assert stats.kstest(drawn, stats.loggamma(shape).cdf).pvalue > 0.001


def test_tiny_shapes_stay_finite_and_distinct() -> None:
    drawn = log_gamma(Seed(1).stream("test"), 1e-6, rows=10, count=10)
    assert np.isfinite(drawn).all()
    assert len(np.unique(drawn)) == drawn.size


def test_rows_do_not_depend_on_each_other() -> None:
    few = log_gamma(Seed(1).stream("test"), 0.3, rows=2, count=5)
    many = log_gamma(Seed(1).stream("test"), 0.3, rows=9, count=5)
    assert np.array_equal(few, many[:2])

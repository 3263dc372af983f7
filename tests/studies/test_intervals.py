"""Means over a few seeds, against SciPy."""

import math

import numpy as np
import pytest
from scipy import stats

from driftfold.studies.intervals import average, geometric_mean, mean, quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 9, 30])
@pytest.mark.parametrize("p", [0.5, 0.9, 0.975, 0.9995])
def test_quantiles_are_students(freedom: int, p: float) -> None:
    assert quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-9, abs=1e-9)


def test_the_interval_of_a_mean_is_students() -> None:
    x = [0.3, 0.1, 0.5, 0.35]
    low, high = stats.t.interval(0.95, 3, loc=np.mean(x), scale=stats.sem(x))
    found = mean(x)
    assert (found.low, found.centre, found.high) == pytest.approx((low, np.mean(x), high))


def test_factors_are_averaged_as_logarithms() -> None:
    found = geometric_mean([0.1, 1.0, 10.0])
    logs = mean([-1.0, 0.0, 1.0])
    assert (found.low, found.centre, found.high) == pytest.approx(
        (10**logs.low, 1.0, 10**logs.high)
    )


def test_what_has_no_logarithm_is_averaged_all_the_same() -> None:
    assert geometric_mean([0.0, 2.0]).centre == 1.0


def test_a_bootstrap_stays_among_the_values_and_repeats() -> None:
    x = [1.0, 2.0, 30.0, 4.0]
    found = average(x)
    assert found.centre == np.mean(x)
    assert min(x) <= found.low < found.centre < found.high <= max(x)
    assert found == average(x)
    wide, narrow = average(x), average(x * 25)  # the same spread, many more seeds
    assert narrow.high - narrow.low < wide.high - wide.low


@pytest.mark.parametrize("summary", [mean, average, geometric_mean])
def test_one_seed_tells_no_spread(summary: object) -> None:
    found = summary([0.5])  # type: ignore[operator]
    assert found.centre == pytest.approx(0.5)
    assert math.isnan(found.low)
    assert not found.known

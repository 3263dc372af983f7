"""Noise has the moments, and where it is discrete the distribution, of its definition."""

import numpy as np
import pytest
from scipy import stats

from driftfold.drift.corruptions import (
    GaussianNoise,
    ImpulseNoise,
    ShotNoise,
    SpeckleNoise,
)
from driftfold.drift.corruptions.poisson import poisson
from tests.drift.corruptions.pictures import by_severity, flat, numbers

VALUES = flat(0.5).size  # 12,288: the standard error of a deviation is 0.64% of it


@pytest.mark.parametrize(("severity", "deviation"), by_severity((0.04, 0.06, 0.08, 0.09, 0.1)))
def test_gaussian(severity: int, deviation: float) -> None:
    noise = GaussianNoise().corrupt(flat(0.5), severity, numbers(flat(0.5))) - 0.5
    assert noise.std() == pytest.approx(deviation, rel=0.03)  # five standard errors
    assert abs(noise.mean()) < 5 * deviation / VALUES**0.5
    assert stats.kstest(noise.ravel() / deviation, "norm").pvalue > 1e-4


@pytest.mark.parametrize(("severity", "deviation"), by_severity((0.06, 0.1, 0.12, 0.16, 0.2)))
def test_speckle_grows_with_the_light(severity: int, deviation: float) -> None:
    for light in (0.0, 0.2, 0.4):
        noise = SpeckleNoise().corrupt(flat(light), severity, numbers(flat(light))) - light
        assert noise.std() == pytest.approx(light * deviation, rel=0.03)


@pytest.mark.parametrize(("severity", "share"), by_severity((0.01, 0.02, 0.03, 0.05, 0.07)))
def test_impulses_are_as_many_and_as_often_white_as_black(severity: int, share: float) -> None:
    made = ImpulseNoise().corrupt(flat(0.5), severity, numbers(flat(0.5)))
    white, black = int((made == 1).sum()), int((made == 0).sum())
    assert white + black == int((made != 0.5).sum())
    assert stats.binomtest(white + black, VALUES, share).pvalue > 1e-4
    assert stats.binomtest(white, white + black, 0.5).pvalue > 1e-4
    each = (made != 0.5).any(axis=3) & ~(made != 0.5).all(axis=3)
    assert each.any(), "channels are struck on their own"


@pytest.mark.parametrize(("severity", "photons"), by_severity((500, 250, 100, 75, 50)))
def test_shots_are_poisson(severity: int, photons: int) -> None:
    light = 0.43  # so that no mean is a whole number
    made = ShotNoise().corrupt(flat(light), severity, numbers(flat(light)))
    counts = np.rint(photons * made).astype(int)
    np.testing.assert_allclose(made, counts / photons, atol=1e-12)
    assert made.var() == pytest.approx(light / photons, rel=0.07)  # five standard errors
    law = stats.poisson(photons * light)
    bins = np.unique(law.ppf(np.linspace(0.02, 0.98, 25)))
    seen = np.bincount(np.searchsorted(bins, counts.ravel()), minlength=len(bins) + 1)
    expected = VALUES * np.diff(np.concatenate([[0.0], law.cdf(bins), [1.0]]))
    assert stats.chisquare(seen, expected).pvalue > 1e-4


@pytest.mark.parametrize("mean", [0, 1, 2, 17, 255, 500])
def test_whole_means_are_inverted_exactly(mean: int) -> None:
    u = np.linspace(0.0, 1.0, 2001)[1:-1]
    counts = poisson(np.full(u.shape, float(mean)), u, np.zeros(u.shape))
    assert np.array_equal(counts, stats.poisson(mean).ppf(u))


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.25, 0.999999])
def test_means_below_one_are_inverted_exactly(mean: float) -> None:
    u = np.concatenate([np.linspace(0.0, 1.0, 2001)[1:-1], [1 - 2.0**-53]])
    counts = poisson(np.full(u.shape, mean), np.zeros(u.shape), u)
    assert np.array_equal(counts[:-1], stats.poisson(mean).ppf(u[:-1]))
    assert counts[-1] < 25
    assert not poisson(np.zeros(1), u[-1:], u[-1:]).any()


def test_each_severity_has_noise_of_its_own() -> None:
    four, five = (GaussianNoise().corrupt(flat(0.5), s, numbers(flat(0.5))) - 0.5 for s in (4, 5))
    assert abs(np.corrcoef(four.ravel(), five.ravel())[0, 1]) < 5 / VALUES**0.5

"""Brightness, contrast and saturation against the standard library's colours."""

import colorsys

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.drift.corruptions import Brightness, Contrast, Saturate
from driftfold.errors import DataError
from tests.drift.corruptions.pictures import by_severity, clothes, coloured, numbers


def with_edge_cases() -> Floats:
    """Random colours, and black, white, greys and pure colours."""
    x = coloured(1, 8, 8)
    x[0, 0] = np.array([
        [0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0],
        [0, 1, 0], [0, 0, 1], [0.3, 0.3, 0], [0.9, 0.9, 1],
    ])  # fmt: skip
    return x


@pytest.mark.parametrize(("severity", "gain"), by_severity((0.05, 0.1, 0.15, 0.2, 0.3)))
def test_brightness(severity: int, gain: float) -> None:
    x = with_edge_cases()
    made = Brightness().corrupt(x, severity, numbers(x))
    for pixel, got in zip(x.reshape(-1, 3), made.reshape(-1, 3), strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        wanted = colorsys.hsv_to_rgb(hue, saturation, min(value + gain, 1.0))
        np.testing.assert_allclose(got, wanted, atol=1e-12)
    grey = clothes(2)
    np.testing.assert_array_equal(
        Brightness().corrupt(grey, severity, numbers(grey)), np.minimum(grey + gain, 1.0)
    )


CHANGES = ((0.3, 0.0), (0.1, 0.0), (1.5, 0.0), (2.0, 0.1), (2.5, 0.2))


@pytest.mark.parametrize(("severity", "change"), by_severity(CHANGES))
def test_saturate(severity: int, change: tuple[float, float]) -> None:
    x = with_edge_cases()
    made = Saturate().corrupt(x, severity, numbers(x))
    for pixel, got in zip(x.reshape(-1, 3), made.reshape(-1, 3), strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        wanted = colorsys.hsv_to_rgb(hue, min(change[0] * saturation + change[1], 1.0), value)
        np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_grey_pictures_have_no_saturation() -> None:
    with pytest.raises(DataError, match="grey; choose another corruption"):
        Saturate().corrupt(clothes(1), 3, np.array([0]))


@pytest.mark.parametrize(("severity", "factor"), by_severity((0.75, 0.5, 0.4, 0.3, 0.15)))
@pytest.mark.parametrize("x", [clothes(3), coloured(3, 9, 17)], ids=["grey", "colour"])
def test_contrast_is_about_the_mean(x: Floats, severity: int, factor: float) -> None:
    made = Contrast().corrupt(x, severity, numbers(x))
    np.testing.assert_allclose(made.mean(axis=(1, 2)), x.mean(axis=(1, 2)), atol=1e-13)
    np.testing.assert_allclose(made.std(axis=(1, 2)), factor * x.std(axis=(1, 2)), atol=1e-13)
    away = x - x.mean(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(
        made - made.mean(axis=(1, 2), keepdims=True), factor * away, atol=1e-13
    )

"""Blurs are the convolutions and samplings they are said to be."""

import math

import numpy as np
import pytest
from scipy import ndimage

from driftfold.arrays import Floats
from driftfold.drift.corruptions import (
    DefocusBlur,
    GaussianBlur,
    GlassBlur,
    MotionBlur,
    ZoomBlur,
)
from driftfold.drift.corruptions.axes import gaussian
from driftfold.drift.corruptions.borders import Border, edge, mirror, reflect
from driftfold.drift.corruptions.defocus_blur import LENSES
from driftfold.drift.corruptions.defocus_blur import kernel as disk
from driftfold.drift.corruptions.glass_blur import PANES
from driftfold.drift.corruptions.motion_blur import MOTIONS
from driftfold.drift.corruptions.streaks import kernel as line
from driftfold.drift.corruptions.streaks import streaked
from driftfold.rng import Seed
from tests.drift.corruptions.pictures import by_severity, clothes, coloured, numbers

SEVERE = range(1, 6)
ROUNDING = 1e-12  # sums of some hundred numbers in [0, 1]


@pytest.mark.parametrize(("severity", "deviation"), by_severity((0.4, 0.6, 0.7, 0.8, 1.0)))
def test_gaussian(severity: int, deviation: float) -> None:
    x = coloured(height=20)
    made = GaussianBlur().corrupt(x, severity, numbers(x))
    wanted = ndimage.gaussian_filter(x, (0, deviation, deviation, 0), mode="nearest", truncate=4)
    np.testing.assert_allclose(made, wanted, atol=ROUNDING)


@pytest.mark.parametrize(
    ("border", "mode"), [(edge, "nearest"), (mirror, "mirror"), (reflect, "reflect")]
)
def test_a_gaussian_wider_than_the_picture(border: Border, mode: str) -> None:
    matrix = gaussian(8, 6.4, 3.0, border)
    wanted = ndimage.gaussian_filter1d(np.eye(8), 6.4, axis=0, mode=mode, truncate=3)
    np.testing.assert_allclose(matrix, wanted, atol=ROUNDING)


@pytest.mark.parametrize("severity", SEVERE)
def test_defocus(severity: int) -> None:
    radius, smoothing = LENSES[severity - 1]
    x = coloured(height=20)
    y, z = np.mgrid[-3:4, -3:4]
    wide = ((y**2 + z**2) <= radius**2).astype(float)
    wide = ndimage.gaussian_filter(wide / wide.sum(), smoothing, mode="constant", radius=1)
    wanted = ndimage.convolve(x, wide[None, :, :, None], mode="mirror")
    np.testing.assert_allclose(
        DefocusBlur().corrupt(x, severity, numbers(x)), wanted, atol=ROUNDING
    )
    assert disk(radius, smoothing).sum() == pytest.approx(1.0, abs=ROUNDING)


@pytest.mark.parametrize("angle", [0.0, 30.0, -45.0, 90.0, -100.0])
def test_streaks_are_a_brute_force_sum(angle: float) -> None:
    x = coloured(1, 12, 15).transpose(0, 3, 1, 2)
    radius, deviation = 4, 2.5
    wanted = np.zeros_like(x)
    weights = [math.exp(-(i**2) / (2 * deviation**2)) for i in range(2 * radius + 1)]
    for i, weight in enumerate(weights):
        down = math.ceil(i * math.sin(math.radians(angle)) - 0.5)
        right = math.ceil(i * math.cos(math.radians(angle)) - 0.5)
        for y in range(12):
            for z in range(15):
                source = x[0, :, min(max(y + down, 0), 11), min(max(z + right, 0), 14)]
                wanted[0, :, y, z] += weight * source / sum(weights)
    np.testing.assert_allclose(
        streaked(x, radius, deviation, np.array([angle])), wanted, atol=ROUNDING
    )


@pytest.mark.parametrize("severity", SEVERE)
def test_motion_keeps_the_mean_of_a_point_and_stays_near_the_horizontal(severity: int) -> None:
    assert line(*MOTIONS[severity - 1]).sum() == pytest.approx(1.0, abs=ROUNDING)
    point = np.zeros((30, 61, 61, 1))
    point[:, 30, 30] = 1.0
    made = MotionBlur().corrupt(point, severity, numbers(point))[..., 0]
    np.testing.assert_allclose(made.sum(axis=(1, 2)), 1.0, atol=ROUNDING)
    y, z = np.mgrid[-30:31, -30:31]
    down, right = (made * y).sum(axis=(1, 2)), (made * z).sum(axis=(1, 2))
    assert (right < 0).all(), "a pixel shows what lies to its right"
    assert (np.abs(down) <= -right + 0.5).all()  # a rounding of half a pixel
    assert down.min() < 0 < down.max()


def zoomed(picture: Floats, factor: float) -> Floats:
    """As the script zooms: crop, enlarge by linear interpolation, trim."""
    side = len(picture)
    cropped = math.ceil(side / factor)
    start = (side - cropped) // 2
    crop = picture[start : start + cropped, start : start + cropped]
    grown = ndimage.zoom(crop, (factor, factor, 1), order=1)
    trim = (len(grown) - side) // 2
    return np.asarray(grown[trim : trim + side, trim : trim + side])


@pytest.mark.parametrize(("severity", "stop"), by_severity((1.06, 1.11, 1.16, 1.21, 1.26)))
@pytest.mark.parametrize("side", [28, 32])
def test_zoom(severity: int, stop: float, side: int) -> None:
    x = coloured(2, side, side)
    factors = np.arange(1, stop, 0.01)  # the script's own range
    for row, picture in enumerate(x):
        wanted = (picture + sum(zoomed(picture, f) for f in factors)) / (len(factors) + 1)
        made = ZoomBlur().corrupt(x, severity, numbers(x))[row]
        np.testing.assert_allclose(made, wanted, atol=1e-9)  # factors differ in their last bits


@pytest.mark.parametrize("severity", SEVERE)
def test_glass_is_the_script_with_its_moves(severity: int) -> None:
    deviation, times = PANES[severity - 1]
    x = coloured(2, 10, 13)
    made = GlassBlur().corrupt(x, severity, numbers(x))
    for row, picture in enumerate(x):
        wanted = ndimage.gaussian_filter(picture, (deviation, deviation, 0), mode="nearest")
        for visit in range(times):
            draws = Seed(0).stream(f"corruption glass_blur {severity}")
            up, left = draws.integers(row, visit, 2 * 10 * 13, 2).reshape(2, 10, 13)
            for h in range(9, 1, -1):
                for w in range(12, 1, -1):
                    # views: the first assignment changes what the second reads
                    there = wanted[h - up[h, w], w - left[h, w]]
                    here = wanted[h, w]
                    here[:], there[:] = there, here
        wanted = ndimage.gaussian_filter(wanted, (deviation, deviation, 0), mode="nearest")
        np.testing.assert_allclose(made[row], wanted, atol=ROUNDING)


def test_flat_pictures_stay_flat() -> None:
    x = np.full_like(clothes(3), 0.7)
    for kind in (GaussianBlur(), DefocusBlur(), MotionBlur(), ZoomBlur(), GlassBlur()):
        np.testing.assert_allclose(kind.corrupt(x, 5, numbers(x)), x, atol=ROUNDING)

"""Weather: clouds are a diamond-square map, layers are laid over as they are said to be."""

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.drift.corruptions import Fog, Frost, Snow
from driftfold.drift.corruptions.fog import CLOUDS
from driftfold.drift.corruptions.frost import MIXTURES
from driftfold.drift.corruptions.frost_textures import PANES, textures
from driftfold.drift.corruptions.plasma import plasma
from driftfold.drift.corruptions.snow import FALLS
from driftfold.rng import Seed
from tests.drift.corruptions.pictures import clothes, coloured, numbers

SEVERE = range(1, 6)


def diamond_square(uniform: Floats, size: int, decay: float) -> Floats:
    """One map, point after point: squares, diamonds in whole rows, diamonds between rows."""
    heights = np.zeros((size, size))
    noise = iter((2 * uniform - 1).tolist())
    step, wobble = size, 1.0

    def at(i: int, j: int) -> float:
        return float(heights[i % size, j % size])

    while step > 1:
        half = step // 2
        for i in range(half, size, step):
            for j in range(half, size, step):
                around = [at(i + a, j + b) for a in (-half, half) for b in (-half, half)]
                heights[i, j] = np.mean(around) + wobble**2 * next(noise)
        for first, second in ((0, half), (half, 0)):
            for i in range(first, size, step):
                for j in range(second, size, step):
                    around = [at(i - half, j), at(i + half, j), at(i, j - half), at(i, j + half)]
                    heights[i, j] = np.mean(around) + wobble**2 * next(noise)
        step, wobble = half, wobble / decay
    heights -= heights.min()
    scaled: Floats = heights / heights.max()
    return scaled


@pytest.mark.parametrize("decay", [3.0, 1.75])
def test_clouds_are_a_diamond_square_map(decay: float) -> None:
    uniform = Seed(3).stream("clouds").uniform(np.arange(2), 0, 16**2 - 1)
    wanted = [diamond_square(one, 16, decay) for one in uniform]
    np.testing.assert_allclose(plasma(uniform, 16, decay), wanted, atol=1e-12)


@pytest.mark.parametrize("severity", SEVERE)
@pytest.mark.parametrize("side", [28, 32])
def test_fog_is_laid_over_and_scaled_back(severity: int, side: int) -> None:
    amount, decay = CLOUDS[severity - 1]
    x = 0.9 * coloured(3, side, side)
    uniform = Seed(0).stream(f"corruption fog {severity}").uniform(numbers(x), 0, 32**2 - 1)
    clouds = plasma(uniform, 32, decay)[:, :side, :side, None]
    most = x.max(axis=(1, 2, 3), keepdims=True)
    wanted = (x + amount * clouds) * most / (most + amount)
    np.testing.assert_allclose(Fog().corrupt(x, severity, numbers(x)), wanted, atol=1e-12)
    assert not Fog().corrupt(np.zeros_like(x), severity, numbers(x)).any()


@pytest.mark.parametrize("severity", SEVERE)
def test_snow_falls_and_rises_over_a_paler_picture(severity: int) -> None:
    night = np.zeros((40, 32, 32, 3))
    paler = 0.5 * (1 - FALLS[severity - 1].clear)
    layers = Snow().corrupt(night, severity, numbers(night)) - paler
    assert layers.min() == pytest.approx(0.0, abs=1e-12), "between flakes it is clear"
    np.testing.assert_allclose(layers, layers[:, ::-1, ::-1], atol=1e-12)  # twice, once upside down
    assert np.array_equal(layers[..., 0], layers[..., 2]), "snow is white"
    down, right = (np.square(np.diff(layers.mean(axis=3), axis=axis)).sum() for axis in (1, 2))
    assert down < right, "flakes are drawn out downwards"


def test_snow_pales_by_brightness() -> None:
    x = coloured(2) * 0.4
    clear = FALLS[0].clear
    luma = x @ np.array([0.299, 0.587, 0.114])
    paled = clear * x + (1 - clear) * np.maximum(x, 1.5 * luma[..., None] + 0.5)
    made = Snow().corrupt(x, 1, numbers(x))
    between = np.abs(made - paled).max(axis=3) < 1e-9
    assert 0.3 < between.mean() < 0.98
    assert (made >= paled - 1e-9).all()


def test_flakes_are_as_many_as_their_threshold_says() -> None:
    night = np.zeros((60, 32, 32, 1))
    made = Snow().corrupt(night, 1, numbers(night)) - 0.5 * (1 - FALLS[0].clear)
    # P(N(.1, .2) > .6) = .0062; a flake's light is its mean excess above 0, twice laid over
    flakes = 0.0062097 * 0.665  # E[light | flake], by numerical integration
    assert made.mean() == pytest.approx(2 * flakes, rel=0.15)


@pytest.mark.parametrize("severity", SEVERE)
def test_frost_is_a_weighted_sum_with_a_cut_of_a_texture(severity: int) -> None:
    picture, ice = MIXTURES[severity - 1]
    x = 0.2 * coloured(6)
    made = Frost().corrupt(x, severity, numbers(x))
    cut = (made - picture * x) / ice
    panes = []
    for one in cut:
        same = np.abs(textures()[:, 0] - one[0, 0, 0]) < 1e-9
        found = [
            pane
            for pane, top, left in np.argwhere(same)
            if np.allclose(
                np.roll(textures()[pane], (-top, -left), (1, 2))[:, :32, :32],
                one.transpose(2, 0, 1),
                atol=1e-9,
            )
        ]
        assert len(found) == 1
        panes += found
    assert len(set(panes)) > 1, "several textures are in use"


def test_textures_have_the_colours_and_the_light_that_were_measured() -> None:
    for pane, texture in zip(PANES, textures(), strict=True):
        # clipping at 0 and 1 takes a little away
        np.testing.assert_allclose(texture.mean(axis=(1, 2)), pane.colour, atol=0.005)
        assert texture.mean(axis=0).std() == pytest.approx(pane.deviation, rel=0.1)


def test_frost_on_grey_pictures_is_grey_ice() -> None:
    x = clothes(4)
    assert Frost().corrupt(x, 5, numbers(x)).shape == x.shape

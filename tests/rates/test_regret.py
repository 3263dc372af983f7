"""Dynamic regret of projected gradient steps: how it grows with time, and with how much moves."""

from functools import cache

import numpy as np
import pytest

from driftfold.algorithms.adaptation.last_layer import in_ball
from driftfold.rates.base import moved

pytestmark = pytest.mark.slow

REPEATS = 400


@cache
def regret(steps: int, variation: float, slow: bool = False) -> float:
    """Mean regret of `REPEATS` learners of theta in [-1, 1] against the best point of each step.

    The loss is mu_t theta with mu_t = +-B^(-1/2), its sign drawn anew every B = (2 T / V)^(2/3)
    steps; a gradient has noise N(0, 1). The rate is B^(-1/2), or T^(-1/2) where it is `slow`.
    """
    length = round((2 * steps / variation) ** (2 / 3))
    size = length**-0.5
    rates = np.full(REPEATS, steps**-0.5 if slow else size)
    rng, theta, mean, lost = np.random.default_rng(7), np.zeros((REPEATS, 1)), np.zeros(0), 0.0
    for step in range(steps):
        if step % length == 0:
            mean = size * (1 - 2.0 * rng.integers(0, 2, (REPEATS, 1)))
        lost += float((mean * theta).mean()) + size
        theta = in_ball(moved(theta, rates, mean + rng.normal(size=(REPEATS, 1))), 1.0)
    return lost


def slope(x: list[float], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def test_regret_grows_like_time_to_two_thirds() -> None:
    """Statement 12: Theta(V^(1/3) T^(2/3)); 92, 190, 430 and 885 were measured once."""
    times = [1e3, 3e3, 1e4, 3e4]
    made = [regret(int(t), 4) for t in times]
    assert 0.62 < slope(times, made) < 0.71
    ratios = [r / (4 ** (1 / 3) * t ** (2 / 3)) for r, t in zip(made, times, strict=True)]
    assert max(ratios) < 0.65
    np.testing.assert_allclose(made, [92, 190, 430, 885], rtol=0.05)


def test_regret_grows_like_the_cube_root_of_what_moves() -> None:
    variations = [2.0, 8.0, 32.0, 128.0]
    assert 0.28 < slope(variations, [regret(10_000, v) for v in variations]) < 0.38


def test_a_rate_that_does_not_look_at_what_moves_does_worse() -> None:
    """eta = T^(-1/2): a ratio of 0.7 and more, that rises with T."""
    times = [1e3, 1e4, 3e4]
    ratios = [regret(int(t), 4, slow=True) / (4 ** (1 / 3) * t ** (2 / 3)) for t in times]
    assert ratios[0] > 0.65
    assert ratios[-1] > ratios[0]

"""Step sizes of the rounds, by the formulas of the papers."""

import pytest

from driftfold.algorithms.step_size import Decay, PerStep, Piecewise


@pytest.mark.parametrize("shift", [0.5, 1.0, 3.0])
def test_pieces_are_divided_by_shift_and_number(shift: float) -> None:
    """alpha_0 in rounds 0 to s - 1, then alpha_0 / (lambda + floor(t / s))."""
    rule = Piecewise(0.6, period=4, shift=shift)
    assert [rule.at(t) for t in range(4)] == [0.6] * 4
    for t in range(4, 30):
        assert rule.at(t) == pytest.approx(0.6 / (shift + t // 4), rel=1e-15)


def test_decay_counts_rounds_from_one_and_factors_stay_at_the_last() -> None:
    decay = Decay(0.3, shift=2.0, power=0.75)
    for t in range(5):
        alpha = 0.3 / (2 + t + 1) ** 0.75
        assert decay.at(t) == pytest.approx(alpha, rel=1e-15)
        assert PerStep(decay, (1.0, 0.5)).within(t, 4) == pytest.approx(
            [alpha, alpha / 2, alpha / 2, alpha / 2], rel=1e-15
        )

"""Bias-corrected temperature scaling against SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from driftfold.arrays import Floats
from driftfold.errors import DataError
from driftfold.label_shift import Calibration, bias_corrected_temperature
from driftfold.softmax import softmax
from tests.label_shift.sources import predictions

LABELS = np.repeat(np.arange(4), [40, 30, 20, 60])


def loss(calibration: Calibration, said: Floats) -> float:
    log = log_softmax(np.log(said) / calibration.temperature + calibration.bias, axis=-1)
    return float(-log[np.arange(len(LABELS)), LABELS].mean())


@pytest.mark.parametrize("bias", [True, False])
def test_nothing_is_likelier(bias: bool) -> None:
    said = predictions(LABELS, 4, 7)
    fit = bias_corrected_temperature(said, LABELS, bias)

    def of(parameters: Floats) -> float:
        return loss(Calibration(float(np.exp(parameters[0])), parameters[1:]), said)

    start = np.zeros(1 + 4)
    bounds = [(-3, 3), *[(-9, 9) if bias else (0, 0)] * 4]
    best = minimize(of, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15})
    assert loss(fit, said) < best.fun + 1e-9
    assert fit.temperature == pytest.approx(np.exp(best.x[0]), rel=1e-3)
    # The fit settles to rounding: the gradient by b, the mean of softmax less labels, is 0.
    off = (fit.of_probabilities(said) - np.eye(4)[LABELS]).mean(axis=0)
    assert np.abs(off).max() < 1e-10 if bias else np.abs(fit.bias).max() == 0


def test_a_planted_temperature_and_bias_come_back() -> None:
    rng = np.random.default_rng(0)
    logits, bias = 2 * rng.normal(size=(8_000, 3)), np.array([0.6, -0.8, 0.2])
    chosen = logits / 2.5 + bias + rng.gumbel(size=logits.shape)
    fit = bias_corrected_temperature(softmax(logits), chosen.argmax(axis=-1))
    # Standard errors at 8,000 samples are about 0.06 and 0.03.
    assert fit.temperature == pytest.approx(2.5, abs=0.25)
    assert np.abs(fit.bias - bias).max() < 0.1
    assert fit.bias.sum() == pytest.approx(0, abs=1e-12)


def test_held_out_classes_may_count_as_the_source_has_them() -> None:
    """Weights are repetitions: as many of one class as copies of its examples."""
    said = predictions(LABELS, 4, 7)
    repeated = np.concatenate([np.arange(len(LABELS)), np.flatnonzero(LABELS == 2)])
    prior = np.bincount(LABELS[repeated]) / len(repeated)
    one = bias_corrected_temperature(said, LABELS, prior=prior)
    other = bias_corrected_temperature(said[repeated], LABELS[repeated])
    assert one.temperature == pytest.approx(other.temperature, rel=1e-9)
    assert np.abs(one.bias - other.bias).max() < 1e-9


def test_probabilities_are_enough() -> None:
    logits = np.random.default_rng(1).normal(size=(5, 4)) * 3
    calibration = Calibration(1.7, np.array([0.1, -0.2, 0.3, -0.2]))
    of = calibration.of_probabilities(softmax(logits))
    assert np.abs(of - calibration.of_logits(logits)).max() < 1e-14
    assert np.isfinite(calibration.of_probabilities(np.eye(4))).all()


def test_separable_predictions_end_at_a_number() -> None:
    fit = bias_corrected_temperature(0.7 * np.eye(2)[[0, 1, 0]] + 0.15, np.array([0, 1, 0]))
    assert 0 < fit.temperature < 1
    assert np.isfinite(fit.bias).all()


def test_predictions_worse_than_chance_are_told() -> None:
    said = predictions(LABELS, 4, 7)
    with pytest.raises(DataError, match="no better than chance"):
        bias_corrected_temperature(said, (LABELS + 1) % 4, bias=False)

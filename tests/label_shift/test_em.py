"""Maximum likelihood against SciPy, and what calibration is for."""

import numpy as np
import pytest
from scipy.optimize import minimize

from driftfold.label_shift import Em, Inverse, SourceFacts
from tests.label_shift.sources import a_source, batches


def test_the_example_published() -> None:
    source = SourceFacts(np.eye(2), np.array([0.5, 0.5]), np.eye(2), np.arange(2))
    batch = np.array([[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.4, 0.6]]])
    assert np.abs(Em(calibrate=False).estimate(None, source, batch)[0] - [1, 0]).max() < 1e-5


def test_no_shares_are_likelier() -> None:
    source = a_source()
    said = batches(np.array([[0.4, 0.3, 0.2, 0.1], [0.0, 0.1, 0.2, 0.7]]), 40, 1)
    p, _ = Em(tolerance=1e-10).estimate(None, source, said)
    for batch, shares in zip(source.calibrated(said), p, strict=True):
        ratios = batch / source.prior

        def loss(logits: np.ndarray, ratios: np.ndarray = ratios) -> float:
            q = np.exp(logits - logits.max())
            return float(-np.log(ratios @ (q / q.sum())).mean())

        best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-6}).fun
        assert -np.log(ratios @ shares).mean() < best + 1e-9


def test_predictions_as_in_the_source_leave_the_prior() -> None:
    source = a_source()
    indifferent = np.tile(source.prior, (1, 5, 1))
    assert (
        np.abs(Em(calibrate=False).estimate(None, source, indifferent)[0] - source.prior).max()
        < 1e-15
    )


def test_a_class_that_the_source_lacked_stays_out() -> None:
    source = SourceFacts(np.eye(3), np.array([0.5, 0.5, 0.0]), np.eye(3), np.arange(3))
    said = np.array([[[0.2, 0.3, 0.5], [0.0, 0.0, 1.0], [0.6, 0.4, 0.0]]])
    p, _ = Em(calibrate=False).estimate(None, source, said)
    assert p[0, 2] == 0
    assert p[0].sum() == pytest.approx(1, abs=1e-15)


def test_calibrated_it_errs_less_than_the_inverse() -> None:
    source = a_source(classes=8, each=60)
    shares = np.random.default_rng(0).dirichlet(0.3 * np.ones(8), 40)
    said = batches(shares, 50, 1)

    def error(rule: Em | Inverse) -> float:
        return float(np.abs(rule.estimate(None, source, said)[0] - shares).sum(axis=1).mean())

    # The mean error of an estimate from 50 samples; its scatter over 40 clients is a tenth of it.
    calibrated = error(Em(tolerance=1e-4))
    assert calibrated < 0.9 * error(Inverse())
    assert calibrated < 0.7 * error(Em(calibrate=False, tolerance=1e-4))

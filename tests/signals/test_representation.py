"""Signals of features: numbers that are known, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Floats
from driftfold.signals import FeatureDistance, MovingRepresentation, Representation, Signal, Sizes
from tests.signals.observations import between, of_features, through

SIGNALS: list[Signal[Floats]] = [Representation(), FeatureDistance(), MovingRepresentation()]
EAST, NORTH = np.array([[[2.0, 0.0]]]), np.array([[[0.0, 0.3]]])


def test_published_numbers() -> None:
    signal = Representation()
    assert between(signal, of_features(EAST), of_features(NORTH))[0] == pytest.approx(0.5)
    assert between(signal, of_features(EAST), of_features(-EAST))[0] == pytest.approx(1.0)
    distance = FeatureDistance()
    assert between(distance, of_features(EAST), of_features(NORTH))[0] == pytest.approx(0.5**0.5)
    assert between(distance, of_features(EAST), of_features(-EAST))[0] == pytest.approx(1.0)


@pytest.mark.parametrize("signal", SIGNALS, ids=repr)
def test_the_same_batch_twice_is_no_drift(signal: Signal[Floats]) -> None:
    batch = of_features(np.random.default_rng(0).normal(size=(3, 8, 6)))
    assert not between(signal, batch, batch).any()


def test_features_that_are_not_negative_move_by_a_half_at_most() -> None:
    rng = np.random.default_rng(0)
    before, now = np.maximum(rng.normal(size=(2, 300, 2, 3)), 0)
    s = between(Representation(), of_features(before), of_features(now))
    assert s.max() <= 0.5
    assert s.max() > 0.45


def test_features_that_cancel_point_nowhere() -> None:
    none = np.concatenate([EAST, -EAST], axis=1)
    for before, now in ((none, EAST.repeat(2, axis=1)), (EAST.repeat(2, axis=1), none)):
        assert between(Representation(), of_features(before), of_features(now))[0] == 0


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 9))
def test_what_does_not_matter(seed: int, d: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    before, now = rng.normal(size=(2, 2, n, d)) + rng.normal(size=(2, 2, 1, d))
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    stretch = np.exp(rng.normal(size=(2, n, 1)))
    for signal in SIGNALS:
        s = between(signal, of_features(before), of_features(now))
        for same in (
            between(signal, of_features(before), of_features(now[:, rng.permutation(n)])),
            between(signal, of_features(np.repeat(before, 2, axis=1)), of_features(now)),
            between(signal, of_features(before @ turn), of_features(now @ turn)),
        ):
            # Means may be short, which multiplies rounding.
            assert np.abs(same - s).max() < 1e-11
    for signal in SIGNALS[:2]:
        s = between(signal, of_features(before), of_features(now))
        same = between(signal, of_features(before), of_features(stretch * now))
        assert np.abs(same - s).max() < 1e-11


def test_long_features_count_more_for_the_moving_reference() -> None:
    both = np.concatenate([EAST, NORTH], axis=1)
    longer = both * np.array([[[1.0], [9.0]]])
    assert between(Representation(), of_features(both), of_features(longer))[0] < 1e-15
    assert between(MovingRepresentation(), of_features(both), of_features(longer))[0] > 0.1


def test_the_moving_reference_is_the_average_of_directions() -> None:
    rng = np.random.default_rng(2)
    steps = rng.normal(size=(6, 1, 5, 3)) + 1
    told, reference = through(MovingRepresentation(keep=0.9), [of_features(x) for x in steps])
    r = np.zeros(3)
    for t, x in enumerate(steps[:, 0]):
        c = x.mean(axis=0) / np.linalg.norm(x.mean(axis=0))
        assert told[t, 0] == pytest.approx((1 - r @ c) / 2 if t else 0, abs=1e-14)
        r = 0.9 * r + 0.1 * c if t else c
        r /= np.linalg.norm(r)
    assert np.abs(reference - r).max() < 1e-14


def test_a_reference_that_keeps_nothing_is_the_last_batch() -> None:
    steps = [of_features(x) for x in np.random.default_rng(3).normal(size=(4, 2, 1, 5))]
    last, _ = through(MovingRepresentation(keep=0.0), steps)
    assert np.abs(last - through(Representation(), steps)[0]).max() < 1e-15


def test_what_is_not_finite_is_seen() -> None:
    shown = np.ones((2, 4, 3))
    broken = shown.copy()
    broken[1, 2, 0] = np.inf
    for signal in SIGNALS:
        s = between(signal, of_features(shown), of_features(broken))
        assert np.isnan(s).tolist() == [False, True], signal


def test_the_memory_is_d_numbers() -> None:
    assert all(signal.begin(Sizes(7, 30)).shape == (30,) for signal in SIGNALS)

"""Signals of predictions: numbers that are known, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr
from scipy.stats import wasserstein_distance

from driftfold.arrays import Floats
from driftfold.signals import Kl, Observed, Signal, Sizes, TotalVariation, Uncertainty
from tests.signals.observations import between, of_labels, of_predictions

UNIFORM, ONE = np.full(10, 0.1), np.eye(10)[3]
HALF = np.repeat([0.2, 0.0], 5)
SIGNALS: list[Signal[Floats]] = [Uncertainty(), Uncertainty(hard=True), Kl(), TotalVariation()]


def means(*q: Floats) -> tuple[Observed, Observed]:
    before, now = (of_predictions(x[None, None]) for x in q)
    return before, now


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (UNIFORM, ONE, 1 - 1 / np.sqrt(10)),
        (UNIFORM, HALF, 1 - 1 / np.sqrt(2)),
        (HALF, HALF[::-1], 1.0),
        (ONE, ONE, 0.0),
    ],
)
def test_published_numbers(before: Floats, now: Floats, expected: float) -> None:
    assert between(Uncertainty(), *means(before, now))[0] == pytest.approx(expected, abs=1e-12)
    assert between(Uncertainty(), *means(now, before))[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("signal", SIGNALS, ids=repr)
def test_the_same_batch_twice_is_no_drift(signal: Signal[Floats]) -> None:
    batch = of_predictions(np.random.default_rng(0).dirichlet(np.ones(6), (3, 8)))
    assert not between(signal, batch, batch).any()


def test_counts_of_the_likeliest_classes() -> None:
    before, now = of_labels(np.array([[0, 0, 1, 2]]), 3), of_labels(np.array([[0, 1, 1, 2]]), 3)
    soft = Observed(0.6 * now.probabilities + 0.4 / 3, now.features, now.gap)
    expected = 1 - (2 + 2 + 1) / 6
    assert between(Uncertainty(hard=True), before, soft)[0] == pytest.approx(expected, abs=1e-12)
    assert between(Uncertainty(), before, soft)[0] < expected


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 9))
def test_what_does_not_matter(seed: int, classes: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    before, now = rng.dirichlet(np.ones(classes), (2, 2, n))
    relabel = rng.permutation(classes)
    for signal in SIGNALS:
        s = between(signal, of_predictions(before), of_predictions(now))
        for other in (
            between(signal, of_predictions(before), of_predictions(now[:, rng.permutation(n)])),
            between(signal, of_predictions(np.repeat(before, 2, axis=1)), of_predictions(now)),
            between(
                signal, of_predictions(before[..., relabel]), of_predictions(now[..., relabel])
            ),
        ):
            if signal == Kl():  # logarithms of smoothed shares: rounding counts for more
                assert np.abs(other - s).max() < 1e-9
            else:
                assert np.abs(other - s).max() < 1e-14


def test_kl_and_total_variation_agree_with_scipy() -> None:
    before, now = np.random.default_rng(1).dirichlet(np.ones(7), (2, 5, 1))
    kl = between(Kl(smoothing=1e-12), of_predictions(before), of_predictions(now))
    assert np.abs(kl - (1 - np.exp(-rel_entr(now, before).sum(axis=-1)[:, 0]))).max() < 1e-9
    variation = between(TotalVariation(), of_predictions(before), of_predictions(now))
    # Of two classes, points 0 and 1 apart, the distances are the same.
    for i in range(5):
        pair = [np.array([q[i, 0, 0], 1 - q[i, 0, 0]]) for q in (before, now)]
        expected = wasserstein_distance([0, 1], [0, 1], *pair)
        got = between(TotalVariation(), *means(*pair))[0]
        assert got == pytest.approx(expected, abs=1e-12)
    assert (variation <= 1).all()


def test_kl_of_what_was_never_predicted_is_all_there_is() -> None:
    assert between(Kl(), *means(np.eye(10)[0], ONE))[0] > 0.99999


def test_what_is_not_finite_is_seen() -> None:
    said = np.full((2, 4, 3), 1 / 3)
    broken = said.copy()
    broken[1, 0] = np.nan
    for signal in SIGNALS:
        s = between(signal, of_predictions(said), of_predictions(broken))
        assert np.isnan(s).tolist() == [False, True], signal


def test_float32_batches() -> None:
    said = np.random.default_rng(0).dirichlet(np.ones(4), (2, 3, 6)).astype(np.float32)
    single = between(Uncertainty(), of_predictions(said[0]), of_predictions(said[1]))
    double = [of_predictions(x.astype(np.float64)) for x in said]
    assert np.array_equal(single, between(Uncertainty(), *double))


def test_the_memory_is_k_numbers() -> None:
    assert all(signal.begin(Sizes(7, 30)).shape == (7,) for signal in SIGNALS)

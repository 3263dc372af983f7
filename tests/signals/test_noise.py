"""How much signals say where nothing moves: measured, and with the bias taken off."""

import numpy as np
import pytest

from driftfold.arrays import Floats, Ints
from driftfold.rng import Seed
from driftfold.signals import (
    DebiasedRepresentation,
    DebiasedUncertainty,
    Held,
    Representation,
    Uncertainty,
    noise_floor,
    null_values,
)
from driftfold.signals.debiased import unbiased_distance
from tests.signals.observations import between, of_features, of_labels, of_predictions, through

TABLE = [
    (10, 25, 0.257, 0.104),
    (10, 50, 0.149, 0.065),
    (10, 100, 0.082, 0.036),
    (10, 500, 0.018, 0.008),
    (26, 50, 0.329, 0.079),
    (100, 30, 0.766, 0.078),
    (200, 100, 0.664, 0.050),
]
"""K, n, and mean and standard deviation of the signal between 20,000 pairs of even labels."""


def floor(classes: int, n: int, pairs: int, seed: int = 0) -> Floats:
    rng, found = np.random.default_rng(seed), []
    for start in range(0, pairs, 500):
        some = min(500, pairs - start)
        before, now = (of_labels(rng.integers(0, classes, (some, n)), classes) for _ in range(2))
        found.append(between(Uncertainty(hard=True), before, now))
    return np.concatenate(found)


@pytest.mark.parametrize(("classes", "n", "mean", "sd"), TABLE[:2])
def test_the_floor_in_short(classes: int, n: int, mean: float, sd: float) -> None:
    s = floor(classes, n, pairs=500)
    assert s.mean() == pytest.approx(mean, abs=4 * sd / 500**0.5)
    assert s.std() == pytest.approx(sd, rel=0.15)  # four standard errors, were it normal


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "n", "mean", "sd"), TABLE)
def test_the_floor(classes: int, n: int, mean: float, sd: float) -> None:
    pairs = 20_000 if classes * n <= 1000 else 4_000
    s = floor(classes, n, pairs)
    # Four standard errors, of both runs, and the table's rounding.
    assert s.mean() == pytest.approx(mean, abs=8 * sd / pairs**0.5 + 0.0005)
    assert s.std() == pytest.approx(sd, rel=4 / pairs**0.5, abs=0.0015)


def test_the_approximation_is_within_a_tenth_of_the_floor() -> None:
    for classes, n, mean, _ in TABLE:
        assert noise_floor(classes, n) == pytest.approx(mean, rel=0.1)


def linear_targets(clients: int, seed: int) -> Floats:
    """Shares (T, clients, K) that go from even ones to Dirichlet(0.1) ones in T = 100 steps."""
    target = np.random.default_rng(seed).dirichlet(np.full(10, 0.1), clients)
    w = np.linspace(0, 1, 100)[:, None, None]
    return (1 - w) * 0.1 + w * target


def drawn(rng: np.random.Generator, shares: Floats, n: int) -> Ints:
    edges = shares.cumsum(axis=-1)
    edges[..., -1] = 1
    labels: Ints = (rng.random((len(shares), n, 1)) > edges[:, None]).sum(axis=-1)
    return labels


def measured_drift(clients: int, seed: int) -> tuple[float, float, float]:
    """Mean S of the linear schedule by true shares and by 50 labels, and of one jump."""
    shares, rng = linear_targets(clients, seed), np.random.default_rng(seed + 1)
    exact, _ = through(Uncertainty(), [of_predictions(p[:, None]) for p in shares])
    sampled, _ = through(Uncertainty(), [of_labels(drawn(rng, p, 50), 10) for p in shares])
    jump = between(Uncertainty(), *(of_predictions(p[:, None]) for p in (shares[0], shares[-1])))
    return float(exact[1:].mean()), float(sampled[1:].mean()), float(jump.mean())


def test_true_drift_drowns_in_noise_in_short() -> None:
    exact, sampled, jump = measured_drift(clients=60, seed=0)
    # Standard deviations over clients are about 5e-5, 0.02 and 0.07.
    assert exact == pytest.approx(8.0e-5, abs=2e-5)
    assert sampled == pytest.approx(0.076, abs=0.01)
    assert jump == pytest.approx(0.556, abs=0.035)


@pytest.mark.slow
def test_true_drift_drowns_in_noise() -> None:
    exact, sampled, jump = measured_drift(clients=2000, seed=0)
    assert exact == pytest.approx(8.0e-5, abs=0.3e-5)
    assert sampled == pytest.approx(0.076, abs=0.002)
    # Its standard deviation over clients is 0.08; the figure is one of a hundred of them.
    assert jump == pytest.approx(0.556, abs=0.012)


def unbiased(classes: int, n: int, pairs: int) -> Floats:
    """1 - cos~ before it is cut off."""
    rng, found = np.random.default_rng(5), []
    for _ in range(0, pairs, 500):
        steps = [of_labels(rng.integers(0, classes, (500, n)), classes) for _ in range(2)]
        found.append(unbiased_distance(through(DebiasedUncertainty(), steps)[1].pooled))
    return np.concatenate(found)


@pytest.mark.parametrize("pairs", [1000, pytest.param(40_000, marks=pytest.mark.slow)])
def test_debiased_it_is_about_zero_without_drift(pairs: int) -> None:
    values = unbiased(10, 50, pairs)
    assert values.mean() == pytest.approx(-0.005, abs=4 * 0.077 / pairs**0.5 + 0.0005)
    cut = np.clip(values, 0, 1).mean()
    assert cut == pytest.approx(0.031, abs=4 * 0.045 / pairs**0.5 + 0.0005)


@pytest.mark.slow
def test_debiased_it_scatters_widely_where_classes_are_many() -> None:
    values = unbiased(100, 30, 20_000)
    assert values.std() == pytest.approx(0.64, abs=0.1)


def test_debiased_it_sees_a_jump_in_full() -> None:
    steps = [of_labels(np.full((1, 40), label), 5) for label in (0, 0, 3)]
    assert through(DebiasedUncertainty(), steps)[0][:, 0].tolist() == [0, 0, 1]
    east, north = np.tile([1.0, 0.0], (1, 3, 1)), np.tile([0.0, 2.0], (1, 3, 1))
    turned = between(DebiasedRepresentation(), of_features(east), of_features(-east))
    assert turned[0] == pytest.approx(1.0)
    assert between(DebiasedRepresentation(), of_features(east), of_features(north))[0] == 0.5


def test_pooling_divides_sums_of_several_steps() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (5, 1, 12))
    told, _ = through(DebiasedUncertainty(pool=4), [of_labels(x, 3) for x in labels])
    counts = np.stack([np.bincount(x[0], minlength=3) for x in labels]).astype(float)
    squares = [(c @ c - 12) / (12 * 11) for c in counts]
    total = np.zeros(3)
    for t in range(1, 5):
        fresh = [counts[t - 1] @ counts[t] / 144, squares[t - 1], squares[t]]
        total = 0.75 * total + 0.25 * np.array(fresh)
        expected = np.clip(1 - total[0] / np.sqrt(total[1] * total[2]), 0, 1)
        assert told[t, 0] == pytest.approx(expected, abs=1e-13)


def test_pooled_it_scatters_less() -> None:
    rng = np.random.default_rng(1)
    steps = [of_labels(rng.integers(0, 20, (200, 30)), 20) for _ in range(12)]
    spreads = [
        unbiased_distance(through(DebiasedUncertainty(pool=pool), steps)[1].pooled).std()
        for pool in (1, 6)
    ]
    assert spreads[1] < 0.6 * spreads[0]


def test_one_sample_tells_nothing_of_lengths() -> None:
    steps = [of_labels(np.array([[label]]), 3) for label in (0, 1)]
    assert through(DebiasedUncertainty(), steps)[0].tolist() == [[0], [0]]


def test_null_values_are_those_of_batches_of_the_held_out_data() -> None:
    rng = np.random.default_rng(0)
    held = Held(np.eye(10)[np.arange(300) % 10], rng.normal(size=(300, 4)), 50, Seed(3))
    s = null_values(Uncertainty(), held, pairs=600)
    assert s.shape == (600,)
    assert s.mean() == pytest.approx(0.149, abs=4 * 0.065 / 600**0.5)
    assert np.array_equal(s[:70], null_values(Uncertainty(), held, pairs=70))
    # Worked out once for the data, whoever asks.
    assert null_values(Uncertainty(), held, pairs=600) is s
    assert null_values(Uncertainty(hard=True), held, pairs=600) is not s
    # Means of 50 directions that cancel point anywhere.
    assert null_values(Representation(), held, 200).mean() == pytest.approx(0.5, abs=0.1)


def test_null_values_are_of_classes_as_frequent_as_before_deployment() -> None:
    """Held out are ten classes alike, but five of them are all that there was: the floor of 5."""
    said, shown = np.eye(10)[np.arange(300) % 10], np.ones((300, 4))
    weights = np.where(np.arange(300) % 10 < 5, 0.2 / 30, 0.0)
    held = Held(said, shown, 50, Seed(3), weights)
    s = null_values(Uncertainty(), held, pairs=600)
    expected = floor(5, 50, pairs=600)
    # Four standard errors of the difference.
    assert s.mean() == pytest.approx(expected.mean(), abs=4 * s.std() * (2 / 600) ** 0.5)
    assert s.mean() < 0.7 * 0.149

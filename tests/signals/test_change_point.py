"""Change points against all ways to cut a short stream."""

import itertools
import math

import numpy as np
import pytest

from driftfold.signals import ChangePoint, Uncertainty
from driftfold.signals.normal_runs import NormalRuns
from tests.signals.observations import of_predictions, through

HAZARD, PRIOR = 0.07, (0.1, 0.8, 1.5, 0.02)


def evidence(x: list[float]) -> float:
    """Marginal likelihood of a run's values (Murphy 2007, equation 95)."""
    mu, kappa, alpha, beta = PRIOR
    n = len(x)
    if not n:
        return 1.0
    mean = sum(x) / n
    after = beta + sum((v - mean) ** 2 for v in x) / 2
    after += kappa * n * (mean - mu) ** 2 / (2 * (kappa + n))
    log = math.lgamma(alpha + n / 2) - math.lgamma(alpha) + alpha * math.log(beta)
    log += math.log(kappa / (kappa + n)) / 2 - (alpha + n / 2) * math.log(after)
    return math.exp(log - n / 2 * math.log(2 * math.pi))


def run_lengths(x: list[float]) -> list[float]:
    """Probabilities of the length of the run after the last value, by all 2^n ways of cutting."""
    weights = [0.0] * (len(x) + 1)
    for cuts in itertools.product((False, True), repeat=len(x)):
        weight, run = 1.0, list[float]()
        for value, cut in zip(x, cuts, strict=True):
            run.append(value)
            weight *= HAZARD if cut else 1 - HAZARD
            if cut:
                weight, run = weight * evidence(run), []
        weights[len(run)] += weight * evidence(run)
    return [w / sum(weights) for w in weights]


def test_beliefs_are_those_of_all_ways_of_cutting() -> None:
    values = [0.1, 0.15, 0.05, 0.6, 0.55, 0.7, 0.1]
    rule = NormalRuns(HAZARD, *PRIOR, longest=20)
    runs = rule.begin(1)
    for t, x in enumerate(values, start=1):
        runs = rule.see(runs, np.array([x]))
        expected = run_lengths(values[:t])
        assert np.abs(runs.share[0, : t + 1] - expected).max() < 1e-12
        assert not runs.share[0, t + 1 :].any()


def test_lengths_beyond_the_longest_count_together_by_their_last_values() -> None:
    values = 0.1 + 0.02 * np.random.default_rng(0).normal(size=30)
    rule = NormalRuns(HAZARD, *PRIOR, longest=8)
    runs = rule.begin(1)
    for x in values:
        runs = rule.see(runs, np.array([x]))
    assert runs.share.sum() == pytest.approx(1, abs=1e-12)
    assert runs.share[0, 8] > 0.3
    mu, kappa, _, beta = PRIOR
    last = values[-8:]
    assert runs.mean[0, 8] == pytest.approx((kappa * mu + last.sum()) / (kappa + 8), abs=1e-14)
    off = ((last - last.mean()) ** 2).sum() / 2
    off += kappa * 8 * (last.mean() - mu) ** 2 / (2 * (kappa + 8))
    assert runs.spread[0, 8] == pytest.approx(beta + off, abs=1e-14)


def test_a_jump_is_told_once_and_a_level_never() -> None:
    rng = np.random.default_rng(1)
    steps = [rng.dirichlet(np.full(5, 20.0), (1, 30)) for _ in range(40)]
    steps += [np.eye(5)[[[0] * 30]]] + [rng.dirichlet([60, 1, 1, 1, 1], (1, 30)) for _ in range(9)]
    told, memory = through(ChangePoint(Uncertainty()), [of_predictions(x) for x in steps])
    s = told[:, 0]
    assert s[:2].tolist() == [0, 0]
    assert s[2:40].max() < 0.2
    assert s[40] > 0.9
    assert s[43:].max() < 0.5
    assert memory.runs.share.shape == (1, 101)


def test_who_was_not_seen_before_is_left_at_the_start() -> None:
    signal = ChangePoint(Uncertainty())
    batch = of_predictions(np.full((2, 3, 4), 0.25))
    _, memory = through(signal, [batch])
    assert memory.runs.share[:, 0].tolist() == [1, 1]


def test_the_scale_multiplies_what_is_watched() -> None:
    steps = [
        of_predictions(np.random.default_rng(t).dirichlet(np.ones(3), (1, 4))) for t in range(5)
    ]
    plain, _ = through(Uncertainty(), steps)
    rule, signal = NormalRuns(0.01, 0.0, 1.0, 1.0, 0.01, 100), ChangePoint(Uncertainty(), scale=2.0)
    runs = rule.begin(1)
    for value in plain[1:]:
        runs = rule.see(runs, 2 * value)
    expected = runs.share[0, :2].sum()
    assert through(signal, steps)[0][-1, 0] == pytest.approx(expected, abs=1e-15)

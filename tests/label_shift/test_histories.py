"""Rules with a memory against plain loops over one client's history."""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.label_shift import (
    FlhFtl,
    Inverse,
    LabelEstimate,
    Rogd,
    RunningMean,
    SourceFacts,
    simplex_projection,
)
from driftfold.trees import spread
from tests.label_shift.sources import a_source, batches

K, STEPS = 4, 9


def history(source: SourceFacts, seed: int = 3) -> tuple[Floats, Floats]:
    """Batches (steps, 2, n, K), and the raw estimates (steps, 2, K) from them."""
    shares = np.random.default_rng(seed).dirichlet(np.ones(K), (STEPS, 2))
    said = np.stack([batches(p, 30, seed + t) for t, p in enumerate(shares)])
    raw = np.stack([Inverse("none").estimate(None, source, batch)[0] for batch in said])
    return said, raw


def run(rule: LabelEstimate[Any], source: SourceFacts, said: Floats) -> tuple[Floats, Any]:
    memory, told = spread(rule.begin(source), 2), []
    for batch in said:
        p, memory = rule.estimate(memory, source, batch)
        assert np.array_equal(p, rule.belief(memory, source, 2))
        told.append(p)
    return np.stack(told), memory


@pytest.mark.parametrize("window", [None, 1, 4])
def test_running_means(window: int | None) -> None:
    source = a_source()
    said, raw = history(source)
    told, _ = run(RunningMean(Inverse("none"), window), source, said)
    for t in range(STEPS):
        expected = raw[max(0, t + 1 - (window or STEPS)) : t + 1].mean(axis=0)
        assert np.abs(told[t] - expected).max() < 1e-13


def test_follow_the_history_inverts_the_mean_of_all_predictions() -> None:
    source = a_source()
    said, _ = history(source)
    told, _ = run(RunningMean(Inverse("none")), source, said)
    everything = np.concatenate(said, axis=1)
    alone = np.linalg.solve(source.confusion, source.predicted(everything)[..., None])[..., 0]
    assert np.abs(told[-1] - alone).max() < 1e-13


def test_before_the_first_batch_a_rule_believes_the_prior() -> None:
    source = a_source()
    rules: tuple[LabelEstimate[Any], ...] = RunningMean(Inverse()), FlhFtl(Inverse())
    for rule in rules:
        memory = spread(rule.begin(source), 2)
        assert np.array_equal(rule.belief(memory, source, 2), np.tile(source.prior, (2, 1)))


def followed(raw: Floats, limit: int) -> list[Floats]:
    """FLH of followers of the leader for one client's estimates (steps, K), by lists."""
    weights: list[float] = []
    told = []
    for t, estimate in enumerate(raw):
        experts = [raw[t - j : t].mean(axis=0) for j in range(1, len(weights) + 1)]
        lost = [float(((e - estimate) ** 2).sum()) / raw.shape[1] for e in experts]
        weights = [w * np.exp(-loss) for w, loss in zip(weights, lost, strict=True)]
        m, total = len(weights), sum(weights)
        weights = [1 / (m + 1), *[w / total * m / (m + 1) for w in weights]][:limit]
        weights = [w / sum(weights) for w in weights]
        experts = [raw[t + 1 - j : t + 1].mean(axis=0) for j in range(1, len(weights) + 1)]
        told.append(sum(w * e for w, e in zip(weights, experts, strict=True)))
    return told


@pytest.mark.parametrize("limit", [50, 3, 1])
def test_following_the_leading_history(limit: int) -> None:
    source = a_source()
    said, raw = history(source)
    told, memory = run(FlhFtl(Inverse("none"), experts=limit), source, said)
    for i in range(2):
        assert np.abs(told[:, i] - followed(raw[:, i], limit)).max() < 1e-12
    assert np.abs(memory.weight.sum(axis=1) - 1).max() < 1e-14


def test_the_leading_history_is_short_after_a_jump_and_long_in_peace() -> None:
    source = SourceFacts(np.eye(2), np.full(2, 0.5), np.eye(2), np.arange(2), soft=True)
    rule = FlhFtl(Inverse("none"), rate=20.0)
    noise = 0.1 * np.random.default_rng(0).normal(size=60)
    told = []
    memory = spread(rule.begin(source), 1)
    for t in range(60):
        share = (0.2 if t < 40 else 0.8) + noise[t]
        p, memory = rule.estimate(memory, source, np.array([[[share, 1 - share]]]))
        told.append(p[0, 0])
    calm = np.array(told)[20:40]
    assert np.abs(calm - 0.2).mean() < 0.5 * np.abs(noise[20:40]).mean()
    mean_of_all = (40 * 0.2 + 5 * 0.8) / 45
    assert abs(told[44] - 0.8) < 0.3 * abs(mean_of_all - 0.8)


def expected_error(p: Floats, shares: Floats, source: SourceFacts) -> float:
    """Of drawing classes by reweighted probabilities, on the held-out examples."""
    ratios = source.calibrated(source.probabilities) * p / source.prior
    right = ratios[np.arange(source.samples), source.labels] / ratios.sum(axis=1)
    return float(sum(shares[y] * (1 - right[source.labels == y].mean()) for y in range(K)))


def test_a_step_of_rogd_is_down_the_expected_error() -> None:
    source = a_source()
    said, raw = history(source)
    rule = Rogd(Inverse("none"), horizon=50)
    told, memory = run(rule, source, said[:1])
    for i in range(2):
        h, slope = 1e-6, np.zeros(K)
        for j in range(K):
            off = h * np.eye(K)[j]
            both = [expected_error(source.prior + s * off, raw[0, i], source) for s in (1, -1)]
            slope[j] = (both[0] - both[1]) / (2 * h)
        # No share comes below `smallest` here, so that the plain projection is the same.
        step = simplex_projection(source.prior - memory.step[i] * slope)
        assert step.min() > 0.01
        assert np.abs(told[0, i] - step).max() < 1e-8


def test_rogd_keeps_a_least_share_and_goes_down() -> None:
    source = a_source()
    said = batches(np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]]), 200, 5)
    told, memory = run(Rogd(Inverse(), horizon=2, smallest=0.02), source, np.stack([said] * 15))
    assert told.min() == pytest.approx(0.02, abs=1e-12)
    assert np.abs(told.sum(axis=-1) - 1).max() < 1e-12
    shares, _ = Inverse().estimate(None, source, said)
    for i in range(2):
        errors = [expected_error(p, shares[i], source) for p in (source.prior, *told[:, i])]
        assert errors[-1] < errors[0] - 0.1
    assert (memory.step > 0).all()

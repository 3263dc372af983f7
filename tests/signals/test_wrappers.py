"""Signals around signals: calibration, halves, memory of jumps, gaps, and several as one."""

from typing import Any

import numpy as np
import pytest

from driftfold.errors import CapabilityError, SpecError
from driftfold.rng import Seed
from driftfold.signals import (
    Calibrated,
    Combined,
    Excess,
    Held,
    JumpMemory,
    Largest,
    NoisyOr,
    Observed,
    PerStep,
    Representation,
    Signal,
    SignalCombination,
    Sizes,
    SplitHalf,
    TimeGate,
    Uncertainty,
    WeightedMean,
    said_one_by_one,
)
from driftfold.spec.codec import decode, encode
from driftfold.trees import spread
from tests.signals.observations import between, of_labels, of_predictions, through

HELD = Held(np.eye(10)[np.arange(200) % 10], np.ones((200, 3)), 50, Seed(1))
BOTH: tuple[Signal[Any], ...] = (Uncertainty(), Representation())


def labels(seed: int, clients: int, n: int = 50) -> Observed:
    return of_labels(np.random.default_rng(seed).integers(0, 10, (clients, n)), 10)


def test_calibrated_means_standard_deviations_above_the_mean() -> None:
    signal = Calibrated(Uncertainty(), width=4.0, pairs=400)
    one = signal.begin(Sizes(10, 3, HELD))
    assert one.centre == pytest.approx(0.149, abs=0.013)
    assert one.deviation == pytest.approx(0.065, abs=0.012)
    first, second = labels(1, 30), labels(2, 30)
    _, memory = signal.measure(spread(one, 30), Observed(*parts(first), np.zeros(30, np.int64)))
    s, _ = signal.measure(memory, Observed(*parts(second), np.ones(30, np.int64)))
    raw = between(Uncertainty(), first, second)
    expected = np.clip((raw - one.centre) / (4 * one.deviation), 0, 1)
    assert np.abs(s - expected).max() < 1e-14
    assert (s == 0).any()


def parts(observed: Observed) -> tuple[Any, Any]:
    # Features of three numbers, as those held out have.
    return observed.probabilities, np.ones((*observed.probabilities.shape[:2], 3))


def test_calibration_needs_held_out_data() -> None:
    with pytest.raises(CapabilityError, match=r"needs held-out source data.*'split_half'"):
        Calibrated(Uncertainty()).begin(Sizes(10, 3))


def test_halves_are_every_other_sample() -> None:
    first, second = labels(1, 40), labels(2, 40)
    raw = between(Uncertainty(), first, second)
    even, odd = (second.samples(slice(start, None, 2)) for start in range(2))
    halves = between(Uncertainty(), even, odd)
    for share in (1.0, 0.5):
        s = between(SplitHalf(Uncertainty(), share), first, second)
        assert np.abs(s - np.clip(raw - share * halves, 0, 1)).max() < 1e-15


def test_halves_take_off_what_noise_there_is() -> None:
    first, second = labels(3, 400), labels(4, 400)
    full = between(SplitHalf(Uncertainty()), first, second)
    half = between(SplitHalf(Uncertainty(), share=0.5), first, second)
    assert full.mean() < 0.02
    assert half.mean() < 0.06 < 0.149
    jump = of_labels(np.zeros((400, 50), np.int64), 10)
    assert between(SplitHalf(Uncertainty()), first, jump).mean() > 0.6


def test_one_sample_has_no_halves() -> None:
    first, second = (of_labels(np.array([[label]]), 3) for label in (0, 1))
    assert between(SplitHalf(Uncertainty()), first, second).tolist() == [1]


def test_a_jump_is_remembered_and_fades_by_steps() -> None:
    batches = [of_labels(np.array([[label] * 4]), 3) for label in (0, 1, 1, 1)]
    batches[3] = Observed(batches[3].probabilities, batches[3].features, np.array([2]))
    told, _ = through(JumpMemory(Uncertainty(), keep=0.7), batches)
    assert told[:, 0] == pytest.approx([0, 1, 0.7, 0.7**3], abs=1e-15)


def test_per_step_divides_by_the_gap() -> None:
    first, second = labels(1, 3), labels(2, 3)
    away = Observed(second.probabilities, second.features, np.array([1, 2, 5]))
    raw = between(Uncertainty(), first, second)
    assert np.array_equal(between(PerStep(Uncertainty()), first, away), raw / [1, 2, 5])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (WeightedMean(), (0.6 + 0.2) / 2),
        (WeightedMean((3.0, 1.0)), (3 * 0.6 + 0.2) / 4),
        (Largest(), 0.6),
        (NoisyOr(), 1 - 0.4 * 0.8),
        (Excess(), (0.36 + 0.04) / 0.8),
        (TimeGate(), 0.7 * 0.6 + 0.3 * 0.2),
        (TimeGate(least=0.9), 0.9 * 0.6 + 0.1 * 0.2),
    ],
)
def test_combinations(rule: SignalCombination, expected: float) -> None:
    now = Observed(np.ones((2, 1, 2)) / 2, np.ones((2, 1, 3)), np.ones(2, np.int64), progress=0.3)
    s = rule.combine(np.array([[0.6, 0.2], [0.0, 0.0]]), now)
    assert s == pytest.approx([expected, 0], abs=1e-15)


def test_at_the_end_the_gate_leaves_a_tenth() -> None:
    now = Observed(np.ones((2, 1, 2)), np.ones((2, 1, 3)), np.ones(2, np.int64), np.array([0, 1.0]))
    assert TimeGate().combine(np.array([[1.0, 0.0], [1.0, 0.0]]), now) == pytest.approx([1, 0.1])


def test_weights_and_gates_that_do_not_fit_are_told() -> None:
    now = labels(1, 1)
    with pytest.raises(SpecError, match=r"weights \[1.0\] for 2 signals; wanted one for each"):
        WeightedMean((1.0,)).combine(np.zeros((1, 2)), now)
    with pytest.raises(SpecError, match="not all 0"):
        WeightedMean((0.0, 0.0)).combine(np.zeros((1, 2)), now)
    with pytest.raises(SpecError, match="'time_gate' weighs one signal against another, got 3"):
        TimeGate().combine(np.zeros((1, 3)), now)


def test_the_papers_signal_is_the_mean_of_two_and_tells_both() -> None:
    rng = np.random.default_rng(0)
    steps = [
        Observed(rng.dirichlet(np.ones(4), (3, 6)), rng.normal(size=(3, 6, 5)), np.ones(3, int))
        for _ in range(4)
    ]
    s, memory = through(Combined(BOTH), steps)
    unc, rep = (through(signal, steps)[0] for signal in BOTH)
    assert np.abs(s - (unc + rep) / 2).max() < 1e-16
    assert np.array_equal(memory.values, np.stack([unc[-1], rep[-1]], axis=-1))
    assert [leaf.shape for leaf in memory.inner] == [(3, 4), (3, 5)]


def test_parts_are_told_through_wrappers() -> None:
    steps = [labels(1, 3), labels(2, 3)]
    inner = Combined(BOTH, NoisyOr())
    plain = through(inner, steps)[1].values
    for around in (inner, PerStep(inner), JumpMemory(inner), SplitHalf(JumpMemory(inner))):
        signal: Signal[Any] = around
        said = said_one_by_one(through(signal, steps)[1])
        assert said is not None
        assert np.array_equal(said, plain)
    assert said_one_by_one(through(Uncertainty(), steps)[1]) is None


def test_recalled_the_last_batch_counts_as_the_present_model_sees_it() -> None:
    first, second, again = labels(1, 5), labels(2, 5), labels(3, 5)
    plain = Uncertainty()
    signals: list[Signal[Any]] = [plain, Combined((plain,)), JumpMemory(plain), SplitHalf(plain)]
    for signal in signals:
        _, memory = through(signal, [first])
        s, _ = signal.measure(signal.recall(memory, again), second)
        assert np.array_equal(s, between(signal, again, second)), signal


def test_a_specification_names_them() -> None:
    table = {
        "kind": "jump_memory",
        "keep": 0.8,
        "signal": {
            "kind": "combined",
            "signals": [{"kind": "uncertainty", "hard": True}, {"kind": "representation"}],
            "by": {"kind": "noisy_or"},
        },
    }
    signal = decode(Signal, table)
    assert signal == JumpMemory(
        Combined((Uncertainty(hard=True), Representation()), NoisyOr()), keep=0.8
    )
    assert encode(signal) == table
    assert decode(Signal, {"kind": "combined", "signals": ["uncertainty"]}).by == WeightedMean()


def test_someone_new_among_others_starts_at_zero() -> None:
    signal = JumpMemory(Combined(BOTH))
    _, memory = through(signal, [labels(1, 2)])
    now = labels(2, 2)
    s, _ = signal.measure(memory, Observed(now.probabilities, now.features, np.array([0, 1])))
    assert s[0] == 0
    assert s[1] > 0


def test_predictions_of_one_class_only() -> None:
    one = of_predictions(np.ones((1, 4, 1)))
    assert between(Uncertainty(), one, one).tolist() == [0]

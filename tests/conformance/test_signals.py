"""Every registered signal keeps its contract, and the check catches those that do not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.registry import kind_of, kinds
from driftfold.signals import (
    Calibrated,
    ChangePoint,
    Combined,
    DebiasedRepresentation,
    DebiasedUncertainty,
    Excess,
    FeatureDistance,
    JumpMemory,
    Kl,
    Largest,
    MovingRepresentation,
    NoisyOr,
    Observed,
    PerStep,
    Representation,
    Signal,
    SignalCombination,
    Sizes,
    SplitHalf,
    TimeGate,
    TotalVariation,
    Uncertainty,
    WeightedMean,
)
from driftfold.testing.signal import check_signal

BOTH: tuple[Signal[Any], ...] = (Uncertainty(), Representation())
COMBINATIONS: list[SignalCombination] = [
    Excess(), Largest(), NoisyOr(), TimeGate(), WeightedMean(), WeightedMean((1.0, 3.0)),
]  # fmt: skip
EXAMPLES: list[Signal[Any]] = [
    Calibrated(Combined(BOTH), pairs=40),
    ChangePoint(Representation(), scale=2.0, longest=4),
    *(Combined(BOTH, by) for by in COMBINATIONS),
    DebiasedRepresentation(pool=3),
    DebiasedUncertainty(hard=True),
    FeatureDistance(),
    JumpMemory(PerStep(Uncertainty())),
    Kl(hard=True),
    MovingRepresentation(),
    PerStep(MovingRepresentation(keep=0.0)),
    Representation(),
    SplitHalf(Uncertainty(hard=True)),
    SplitHalf(JumpMemory(Calibrated(ChangePoint(Kl()), pairs=20))),
    TotalVariation(),
    Uncertainty(),
    Uncertainty(hard=True),
]


@pytest.mark.parametrize("signal", EXAMPLES, ids=repr)
def test_contract(signal: Signal[Any]) -> None:
    check_signal(signal)


@pytest.mark.parametrize("family", ["signal", "signal_combination"])
def test_every_kind_of_the_library_is_covered(family: str) -> None:
    shipped = {
        kind for kind, cls in kinds(family).items() if cls.__module__.startswith("driftfold.")
    }
    examples: dict[str, list[Any]] = {"signal": EXAMPLES, "signal_combination": COMBINATIONS}
    assert shipped == {kind_of(example) for example in examples[family]}


class Hand(Signal[Any]):
    """Distance of first predictions, for the broken signals below."""

    def begin(self, sizes: Sizes) -> Any:
        return np.zeros(sizes.classes)

    def compare(self, memory: Any, observed: Observed) -> tuple[Floats, Any]:
        now = observed.probabilities[:, 0]
        return np.where(observed.seen, np.abs(now - memory).max(axis=-1), 0.0), now

    def replace(self, memory: Any, observed: Observed) -> Any:
        return observed.probabilities[:, 0]


class InPlace(Hand):
    def compare(self, memory: Any, observed: Observed) -> tuple[Floats, Any]:
        s, now = super().compare(memory, observed)
        if memory.flags.writeable:
            memory[:] = now
        return s, now


class AtOnce(Hand):
    def compare(self, memory: Any, observed: Observed) -> tuple[Floats, Any]:
        return super().compare(memory, replace(observed, gap=observed.gap + 1))


class TooMuch(Hand):
    def compare(self, memory: Any, observed: Observed) -> tuple[Floats, Any]:
        s, now = super().compare(memory, observed)
        return 3 * s, now


class Together(Hand):
    def compare(self, memory: Any, observed: Observed) -> tuple[Floats, Any]:
        s, now = super().compare(memory, observed)
        return s / 2 + s.mean() / 2 * observed.seen, now


class Forgets(Hand):
    def replace(self, memory: Any, observed: Observed) -> Any:
        return None


def test_a_signal_by_hand_passes() -> None:
    check_signal(Hand())


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        (InPlace(), "changed the memory passed to it"),
        (AtOnce(), "at first batches; wanted 0"),
        (TooMuch(), r"wanted 0 \.\. 1"),
        (Together(), "in a stack of 1 clients"),
        (Forgets(), "another structure"),
    ],
)
def test_the_check_catches(signal: Signal[Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_signal(signal)


def test_shapes_that_do_not_fit_are_refused() -> None:
    said, shown = np.full((2, 4, 3), 1 / 3), np.ones((2, 5, 6))
    with pytest.raises(ValueError, match=r"wanted \(k, n, K\), \(k, n, d\) and \(k,\)"):
        Uncertainty().measure(np.zeros((2, 3)), Observed(said, shown, np.zeros(2, np.int64)))

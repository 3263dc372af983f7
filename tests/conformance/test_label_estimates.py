"""Every registered label estimate keeps its contract, and the check catches those that do not."""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.label_shift import (
    Em,
    FlhFtl,
    Guarded,
    Inverse,
    LabelEstimate,
    Prior,
    Ridge,
    Rlls,
    Rogd,
    RunningMean,
    SourceFacts,
    Uniform,
)
from driftfold.registry import kind_of, kinds
from driftfold.testing.label_estimate import check_label_estimate
from driftfold.trees import spread
from tests.label_shift.sources import a_source

EXAMPLES: list[LabelEstimate[Any]] = [
    Em(tolerance=1e-8),
    FlhFtl(Inverse("none"), experts=2),
    Guarded(RunningMean(Inverse("none")), Em(tolerance=1e-8), negative=0.05),
    Inverse(),
    Inverse("none"),
    Inverse("simplex"),
    Prior(),
    Ridge(),
    Ridge(0.1, of="weights", fix="simplex"),
    Rlls(),
    Rogd(Inverse("none"), horizon=20),
    RunningMean(Inverse("none")),
    RunningMean(FlhFtl(Inverse()), window=2, fix="clip"),
    Uniform(),
]


@pytest.mark.parametrize("rule", EXAMPLES, ids=repr)
def test_contract(rule: LabelEstimate[Any]) -> None:
    check_label_estimate(rule, a_source(), visits=2)


@pytest.mark.parametrize("rule", [Inverse(), RunningMean(Ridge())], ids=repr)
def test_contract_of_mean_probabilities(rule: LabelEstimate[Any]) -> None:
    check_label_estimate(rule, a_source(soft=True))


@pytest.mark.parametrize("rule", EXAMPLES, ids=repr)
def test_what_is_not_finite_is_seen_and_harms_nobody_else(rule: LabelEstimate[Any]) -> None:
    source = a_source()
    said = source.probabilities[:36].reshape(3, 12, 4).copy()
    memory = spread(rule.begin(source), 3)
    whole, _ = rule.estimate(memory, source, said)
    said[1, 5, 2] = np.nan
    p, _ = rule.estimate(memory, source, said)
    assert np.isnan(p[1]).all()
    assert np.array_equal(p[[0, 2]], whole[[0, 2]])


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind
        for kind, cls in kinds("label_estimate").items()
        if cls.__module__.startswith("driftfold.")
    }
    assert shipped == {kind_of(rule) for rule in EXAMPLES}


class Hand(LabelEstimate[Any]):
    """Shares of predictions, for the broken rules below."""

    def begin(self, source: SourceFacts) -> Any:
        return np.zeros(source.classes)

    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, Any]:
        return source.predicted(predictions), memory


class InPlace(Hand):
    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, Any]:
        memory = memory if memory.flags.writeable else memory.copy()
        memory += 1
        return source.predicted(predictions), memory


class Unscaled(Hand):
    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, Any]:
        return 2 * source.predicted(predictions), memory


class Together(Hand):
    """One product for all clients."""

    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, Any]:
        return source.predicted(predictions) + (len(predictions) == 7) * 1e-16, memory


class FirstCounts(Hand):
    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, Any]:
        return source.predicted(predictions[:, :1]), memory


class Restless(Hand):
    def update(self, memory: Any, source: SourceFacts, predictions: Floats) -> tuple[Floats, Any]:
        p = source.predicted(predictions)
        return p, memory + p

    def belief(self, memory: Any, source: SourceFacts, clients: int) -> Floats:
        mean: Floats = memory / np.maximum(memory.sum(axis=-1, keepdims=True), 1)
        return mean


def test_a_rule_by_hand_passes() -> None:
    check_label_estimate(Hand(), a_source())
    check_label_estimate(Restless(), a_source())


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (InPlace(), "changed the memory passed to it"),
        (Unscaled(), "sum to 1 only within"),
        (Together(), "in a stack of 7 clients"),
        (FirstCounts(), "order of a batch's samples"),
    ],
)
def test_the_check_catches(rule: LabelEstimate[Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_label_estimate(rule, a_source())

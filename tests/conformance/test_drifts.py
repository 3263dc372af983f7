"""Every registered drift keeps its contract, and the check catches those that do not."""

from dataclasses import dataclass

import numpy as np
import pytest

from driftfold.arrays import Array, Floats, Ints
from driftfold.drift import (
    AffineShift,
    Corrupted,
    DomainMixture,
    Drift,
    FeatureNoise,
    InputCourse,
    InputDrift,
    LabelCourse,
    LabelDrift,
    LabelMixture,
    LabelSwaps,
    Pool,
    Timeline,
)
from driftfold.drift.clocks import ByGroup
from driftfold.drift.corruptions import Brightness, GaussianNoise
from driftfold.drift.schedule import Common
from driftfold.drift.schedules import Bernoulli, Sine, Square, Staggered, Step
from driftfold.drift.targets import (
    Decay,
    Dirichlet,
    Gaussian,
    Given,
    OneClass,
    OtherClient,
    Partition,
    Prior,
    Uniform,
)
from driftfold.registry import kind_of
from driftfold.testing.drift import check_drift
from tests.modules import own_kinds

BY_CLASS = Staggered(Square(), ByGroup(start=(0, 4, 9)))
EXAMPLES: list[Drift] = [
    LabelMixture(),
    LabelMixture(Square(), OneClass(), Uniform()),
    LabelMixture(Bernoulli(), OneClass("drawn"), Decay()),
    LabelMixture(BY_CLASS, Partition(minimum=1), Gaussian()),
    LabelMixture(Sine(), OtherClient(Dirichlet(), 2), Dirichlet()),
    LabelMixture(Step(), OneClass(3), Given(tuple(range(1, 11)))),
    LabelMixture(Step(), Prior()),
    Corrupted(Step(levels=(0.0, 0.5)), (Brightness(), GaussianNoise())),
    Corrupted(BY_CLASS, (Brightness(), GaussianNoise()), assigned="drawn", clean=True),
    FeatureNoise(Square()),
    AffineShift(Square(), spread=0.2),
    AffineShift(Sine(), common=True),
    DomainMixture(),
    DomainMixture(Square(), (0, 2, 1), "number"),
    DomainMixture(BY_CLASS, (0, 2, 1), "drawn"),
    LabelSwaps(),
    LabelSwaps(BY_CLASS, bounds=(1, 2, 3)),
    LabelSwaps(Bernoulli(), assigned="drawn"),
]


@pytest.mark.parametrize("drift", EXAMPLES, ids=repr)
def test_contract(drift: Drift) -> None:
    check_drift(drift)


def test_every_kind_of_the_library_is_covered() -> None:
    assert set(own_kinds("drift")) == {kind_of(drift) for drift in EXAMPLES}
    labels = [drift for drift in EXAMPLES if isinstance(drift, LabelMixture)]
    targets = {kind_of(end) for drift in labels for end in (drift.target, drift.origin)}
    assert set(own_kinds("label_target")) == targets


@dataclass(frozen=True)
class FixedLabels(LabelDrift):
    made: LabelCourse

    def bind(self, timeline: Timeline, pool: Pool) -> LabelCourse:
        return self.made


@dataclass(frozen=True)
class FixedInputs(InputDrift):
    made: InputCourse

    def bind(self, timeline: Timeline, pool: Pool) -> InputCourse:
        return self.made


def jump(steps: Floats) -> Floats:
    return (steps >= 20).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Shares(LabelCourse):
    """A jump to the last class, of shares with another sum, or at another time than is said."""

    total: float
    late: int

    def shares(self, clients: Ints, steps: Ints) -> Floats:
        w = self.path.weight(clients, steps - self.late)[:, None]
        shares: Floats = self.total * ((1 - w) * 0.1 + w * np.eye(10)[9])
        return shares

    def towards(self) -> Floats:
        return np.tile(np.eye(10)[9], (5, 1))


@dataclass(frozen=True, eq=False)
class Brighter(InputCourse):
    """Changes what it is given."""

    def apply(self, x: Array, rows: Ints, clients: Ints, steps: Ints) -> Array:
        x += 1
        return x


@pytest.mark.parametrize(
    ("drift", "message"),
    [
        (FixedLabels(Shares(Common(30, True, jump), 1.5, 0)), "no probabilities"),
        (FixedLabels(Shares(Common(30, True, jump), 1.0, 3)), "differs at steps"),
        (FixedInputs(Brighter(Common(30, True, jump))), "changed the inputs"),
    ],
)
def test_the_check_catches(drift: Drift, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_drift(drift)

"""Every registered schedule keeps its contract, and the check catches those that do not."""

from dataclasses import dataclass

import numpy as np
import pytest

from driftfold.arrays import Bools, Floats, Ints
from driftfold.drift import Path, Schedule, Timeline
from driftfold.drift.clocks import ByGroup, ByPresence, Drawn, Given, TimeZones
from driftfold.drift.schedule import Common, Steps
from driftfold.drift.schedules import (
    Bernoulli,
    Between,
    Constant,
    Gradual,
    Incremental,
    Linear,
    Recurring,
    Sine,
    Square,
    Staggered,
    Step,
)
from driftfold.registry import kind_of
from driftfold.rng import Seed
from driftfold.testing.schedule import check_schedule
from tests.modules import own_kinds

EXAMPLES: list[Schedule] = [
    Bernoulli(),
    Bernoulli(form="redraw", p=0.7),
    Bernoulli(p=0.9, common=True),
    Bernoulli(p=0.01),
    Between(Bernoulli(), low=0.9, high=0.3),
    Between(Sine(), high=0.5),
    Constant(0.3),
    Gradual(),
    Incremental(),
    Linear(),
    Linear(start=-1),
    Recurring(),
    Recurring(form="wave"),
    Sine(),
    Sine(form="half"),
    Square(),
    Square(every=2.5),
    Step(),
    Step(at=(10, 20, 21), levels=(0.5, 0.1, 0.9, 1.0)),
    Staggered(Square(), Drawn(start=20, phase=5, pace=3)),
    Staggered(Sine(), Drawn(start=20, phase=5, pace=3)),
    Staggered(Bernoulli(), Given(pace=2.5, phase=(0.0, -3.0, 0.5, 1.0, 2.0, 3.0, 4.0))),
    Staggered(Recurring(), TimeZones(zones=(-8.0, 1.0))),
    Staggered(Gradual(), ByPresence(start=30, pace=2)),
    Staggered(Staggered(Step(), ByGroup(start=(0, 5, 10))), ByGroup(phase=(0, 3), of="number")),
]


@pytest.mark.parametrize("schedule", EXAMPLES, ids=repr)
def test_contract(schedule: Schedule) -> None:
    check_schedule(schedule)


def test_every_kind_of_the_library_is_covered() -> None:
    assert set(own_kinds("schedule")) == {kind_of(schedule) for schedule in EXAMPLES}
    clocks = {kind_of(s.clock) for s in EXAMPLES if isinstance(s, Staggered)}
    assert set(own_kinds("clock")) == clocks


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("schedule", EXAMPLES[:19], ids=repr)
def test_short_streams(schedule: Schedule, steps: int) -> None:
    check_schedule(schedule, Timeline(3, steps=steps, seconds=60.0, seed=Seed(1)))


@dataclass(frozen=True)
class Fixed(Schedule):
    """Hands out one path, to try the check on."""

    made: Path

    def path(self, timeline: Timeline) -> Path:
        return self.made


@dataclass(frozen=True, eq=False)
class Advancing(Path):
    """A generator that every query advances."""

    rng: np.random.Generator

    def weight(self, clients: Ints, steps: Steps) -> Floats:
        return self.rng.random(len(clients))


@dataclass(frozen=True, eq=False)
class Late(Path):
    """A jump, said to be a step later than it is; or none said at all."""

    said: int | None

    def weight(self, clients: Ints, steps: Steps) -> Floats:
        return (np.asarray(steps) >= 30).astype(np.float64)

    def changed(self, clients: Ints, steps: Ints) -> Bools:
        return np.equal(steps, -1 if self.said is None else self.said)


@dataclass(frozen=True, eq=False)
class Doubtful(Late):
    """Says one thing of a client and another of its steps."""

    def changes(self, client: int) -> Ints:
        return np.array([30])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (Advancing(60, True, np.random.default_rng(0)), "order or company"),
        (Common(60, False, lambda steps: steps / 30), "between 0 and 1"),
        (Common(60, True, lambda steps: np.zeros(1)), "wanted float64"),
        (Common(59, True, np.zeros_like), "59 steps of 60"),
        (Late(60, True, 31), "w jumps at"),
        (Late(60, False, None), "begins to move"),
        (Late(60, True, 0), "ascending, from 1 to 59"),
        (Doubtful(60, True, 31), "changed is true at"),
    ],
)
def test_the_check_catches(path: Path, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_schedule(Fixed(path))

"""Every registered participation keeps its contract, and the check catches those that do not."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from driftfold.arrays import Bools, Floats, Ints
from driftfold.fleet import Fleet
from driftfold.participation import (
    Adversarial,
    Always,
    Attendance,
    Bernoulli,
    Cyclic,
    Diurnal,
    DiurnalSessions,
    Dropout,
    InterleavedSine,
    Jump,
    LabelBernoulli,
    LabelCycle,
    LabelSetBernoulli,
    LognormalSine,
    Markov,
    MarkovSessions,
    Outage,
    Participation,
    Sessions,
    Sine,
    SizeBernoulli,
    Staircase,
    Uniform,
)
from driftfold.registry import kind_of, kinds
from driftfold.rng import Seed
from driftfold.testing.participation import check_participation

EXAMPLES: list[Participation] = [
    Always(),
    Bernoulli(),
    Bernoulli(p=0.0),
    Bernoulli(p=1.0),
    Diurnal(),
    Diurnal(duty=0.05, amplitude=2.0, slot=700.0, horizon=2.0),
    LabelBernoulli(),
    Uniform(rho=0.3),
    Uniform(size=11),
]
# Their answers are compared with lists of intervals in tests/participation/test_every_kind.py.
LONGER: list[Participation] = [
    Adversarial("all_off", start=3600.0, end=86400.0),
    Adversarial("silent", client=3),
    Adversarial("flapping", every=0.1),
    Dropout(Bernoulli(), first=500.0, last=1e6),
    Dropout(MarkovSessions(), last=2e5, unit="seconds"),
    Outage(Always(), every=20000.0),
    Outage(Dropout(Sessions(), last=2e5, unit="seconds"), duration=20000.0, regions=2),
    DiurnalSessions(duty=0.4, session=14400.0),
    MarkovSessions(),
    Sessions(),
    Cyclic(low=0.2, high=0.8, period=7),
    Cyclic(p=0.3, period=11, slot=3000.0),
    InterleavedSine(slot=5000.0),
    Jump(at=20, slot=5000.0),
    Markov(),
    Markov(p=0.4, rate=0.9, regions=2, shock=0.5, slot=1000.0),
    LabelSetBernoulli(),
    LabelCycle(slot=3000.0),
    LognormalSine(),
    Sine(),
    SizeBernoulli(power=-1.0),
    Staircase(slot=5000.0),
]


def fleet() -> Fleet:
    shares = np.random.default_rng(0).dirichlet(np.ones(4), 11)
    return Fleet(Seed(2), np.full(11, 10), np.full(11, 1 / 11), shares)


@pytest.mark.parametrize("model", EXAMPLES, ids=repr)
def test_contract(model: Participation) -> None:
    check_participation(model, fleet())


@pytest.mark.slow
@pytest.mark.parametrize("model", LONGER, ids=repr)
def test_contract_of_the_others(model: Participation) -> None:
    check_participation(model, fleet())


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind
        for kind, cls in kinds("participation").items()
        if cls.__module__.startswith("driftfold.")
    }
    # A trace needs a file: tests/participation/test_trace.py.
    assert shipped == {"trace", *(kind_of(model) for model in EXAMPLES + LONGER)}


@dataclass(frozen=True)
class Fixed(Participation):
    """Hands out one attendance, to try the check on."""

    attendance: Attendance

    def attend(self, fleet: Fleet) -> Attendance:
        return self.attendance


@dataclass
class Advancing(Attendance):
    """A generator that every query advances."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        return self.rng.random(len(clients)) < 0.5


class EndsLate(Attendance):
    """On in even hours, but sessions are said to end a minute too late."""

    def available(self, clients: Ints, t: float) -> Bools:
        return np.full(len(clients), int(t // 3600) % 2 == 0)

    def session_end(self, clients: Ints, t: float) -> Floats:
        on = self.available(clients, t)
        return np.where(on, (t // 3600 + 1) * 3600 + 60, t)

    def next_on(self, clients: Ints, t: float) -> Floats:
        return np.where(self.available(clients, t), t, (t // 3600 + 1) * 3600)


class Closed(EndsLate):
    """Still on at the very end of a session."""

    def session_end(self, clients: Ints, t: float) -> Floats:
        on = self.available(clients, t)
        return np.where(on, np.nextafter((t // 3600 + 1) * 3600, 0), t)


class Overstated(Attendance):
    """Answers always, and says half of the time."""

    def probability(self, clients: Ints) -> Floats:
        return np.full(len(clients), 0.5)


class Flat(Attendance):
    """Answers for all clients at once."""

    def available(self, clients: Ints, t: float) -> Bools:
        return np.ones(1, dtype=bool)


@pytest.mark.parametrize(
    ("attendance", "message"),
    [
        (Advancing(), "order or company"),
        (EndsLate(), "it does not"),
        (Closed(), "does not change at"),
        (Overstated(), "probability is 0.5"),
        (Flat(), "wanted bool"),
    ],
)
def test_the_check_catches(attendance: Attendance, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_participation(Fixed(attendance), fleet())

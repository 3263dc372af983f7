"""Every answer of every kind, in any order, equals that of a list of intervals."""

import numpy as np
import pytest

from driftfold.participation import (
    Cyclic,
    DiurnalSessions,
    InterleavedSine,
    Jump,
    Markov,
    MarkovSessions,
    Participation,
    Sessions,
    Sine,
    Staircase,
)
from driftfold.participation.blocks import InBlocks
from driftfold.participation.slots import PerDispatch, Slotted
from tests.participation.fleets import fleet_of
from tests.participation.intervals import compare, from_blocks, from_slots, moments, walk

# Each with the number of slots that make four of its periods.
IN_SLOTS: list[tuple[Participation, int]] = [
    (Markov(slot=0.1), 120),
    (Markov(p=0.5, rate=0.9, slot=3600.0), 60),
    (Markov(memory=0.7, regions=3, shock=0.6, slot=1000 / 3), 80),
    (Sine(slot=0.1), 80),
    (Staircase(slot=60.0), 80),
    (InterleavedSine(slot=1000 / 3), 80),
    (Jump(at=40, slot=7.0), 80),
    (Cyclic(period=21, slot=0.1), 84),
]
PER_DISPATCH: list[Participation] = [
    Markov(),
    Markov(memory=0.2, regions=2, shock=0.5),
    Sine(),
    Staircase(),
    InterleavedSine(),
    Jump(at=10),
    Cyclic(period=9),
]
# Each with the length of one of its periods in seconds.
IN_BLOCKS: list[tuple[Participation, float]] = [
    (MarkovSessions(), 4 * 3600.0),
    (MarkovSessions(p=0.1, session=0.3, spread=0.0), 3.0),
    (DiurnalSessions(), 86400.0),
    (DiurnalSessions(duty=0.4, session=14400.0, zones=(-5.0, -8.0)), 86400.0),
    (Sessions(), 86400.0),
    (Sessions(gap=1.0, session=2.0, nights=0.5), 86400.0),
]


def check_slots(model: Participation, slots: int, clients: int, times: int) -> None:
    attendance = model.attend(fleet_of(clients))
    assert isinstance(attendance, Slotted)
    # Twice as long, so that the changes after the last queries are on the list.
    truth = from_slots(attendance, clients, 2 * slots)
    rng = np.random.default_rng(3)
    asked = moments(truth, slots * attendance.length, times, rng)
    assert compare(attendance, truth, asked, rng) == clients * times


@pytest.mark.parametrize(("model", "slots"), IN_SLOTS[1:], ids=repr)
def test_slots(model: Participation, slots: int) -> None:
    check_slots(model, slots, clients=125, times=8)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "slots"), IN_SLOTS, ids=repr)
def test_slots_a_million_times(model: Participation, slots: int) -> None:
    check_slots(model, slots, clients=1000, times=1000)


@pytest.mark.parametrize("model", PER_DISPATCH, ids=repr)
def test_dispatches(model: Participation) -> None:
    attendance = model.attend(fleet_of(20))
    assert isinstance(attendance, PerDispatch)
    truth = walk(attendance.process, 20, 50)
    rng = np.random.default_rng(3)
    for n in rng.permutation(50).tolist():
        some = rng.permutation(20)
        assert attendance.responds(some, n).tolist() == truth[some, n].tolist()


def check_blocks(model: Participation, period: float, clients: int, times: int) -> None:
    attendance = model.attend(fleet_of(clients))
    assert isinstance(attendance, InBlocks)
    truth = from_blocks(attendance, clients, 5 * period)
    rng = np.random.default_rng(3)
    asked = moments(truth, 4 * period, times, rng)
    assert compare(attendance, truth, asked, rng) == clients * times


@pytest.mark.parametrize(("model", "period"), IN_BLOCKS[::2], ids=repr)
def test_blocks(model: Participation, period: float) -> None:
    check_blocks(model, period, clients=40, times=25)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "period"), IN_BLOCKS, ids=repr)
def test_blocks_a_million_times(model: Participation, period: float) -> None:
    check_blocks(model, period, clients=1000, times=1000)

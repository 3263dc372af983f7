"""Searches by the library of kernels give the bits of the arrays' form, whatever is handed back."""

import numpy as np
import pytest

from driftfold.errors import RunError
from driftfold.native import Library, Searcher, library
from driftfold.participation import DiurnalSessions, MarkovSessions, Participation
from driftfold.participation.blocks import InBlocks
from driftfold.participation.resets import Resets
from tests.participation.fleets import fleet_of

CLIENTS = 120
MODELS: list[Participation] = [
    DiurnalSessions(),
    DiurnalSessions(duty=0.15, session=8 * 3600.0, zones=(-5.0, -8.0)),  # both rates swing
    MarkovSessions(),
    MarkovSessions(p=tuple(np.linspace(0.0, 1.0, CLIENTS).tolist()), session=7.0),
]
NAMES = ["one rate swings", "both rates swing", "constant rates", "always and never, too"]


@pytest.fixture(scope="module")
def found() -> Library:
    found = library()
    if not isinstance(found, Library):
        pytest.skip("there is no library of kernels here")
    return found


def attendance_of(model: Participation) -> tuple[InBlocks, Resets]:
    attendance = model.attend(fleet_of(CLIENTS))
    assert isinstance(attendance, InBlocks)
    assert isinstance(attendance.process, Resets)
    return attendance, attendance.process


def moments(attendance: InBlocks) -> list[float]:
    """Random times, the first instants, and ends of sessions with the numbers next to them."""
    rng = np.random.default_rng(7)
    length = float(attendance.process.length(np.arange(1))[0])
    times = [0.0, 1e-9, 1e6 * length, *rng.uniform(length, 60 * length, 8).tolist()]
    ends = attendance.session_end(np.arange(CLIENTS), times[-1])
    for end in rng.choice(ends[(ends > times[-1]) & (ends < np.inf)], 2).tolist():
        times += [end, np.nextafter(end, 0), np.nextafter(end, np.inf)]
    return times


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_all_answers_are_those_of_the_arrays(model: Participation, found: Library) -> None:
    (quick, process), (plain, other) = attendance_of(model), attendance_of(model)
    assert isinstance(process.shortcut, Searcher)
    vars(other)["shortcut"] = None
    rng = np.random.default_rng(8)
    for t in moments(quick):
        some = rng.permutation(CLIENTS)[: rng.integers(1, CLIENTS)]
        for ask in (InBlocks.available, InBlocks.session_end, InBlocks.next_on):
            assert ask(quick, some, t).tobytes() == ask(plain, some, t).tobytes()


@pytest.mark.parametrize("model", MODELS[:3], ids=NAMES[:3])
def test_who_is_near_a_rate_is_left_to_the_arrays(model: Participation, found: Library) -> None:
    (quick, _), (wary, other) = attendance_of(model), attendance_of(model)
    careful = Searcher(found, other.law(), margin=0.02)
    vars(other)["shortcut"] = careful
    everyone = np.arange(CLIENTS)
    for t in moments(quick):
        left = careful.states(everyone, t)[1]
        assert 0 < len(left) < CLIENTS or t < 1.0  # before the first switch of most
        for ask in (InBlocks.available, InBlocks.session_end, InBlocks.next_on):
            assert ask(quick, everyone, t).tobytes() == ask(wary, everyone, t).tobytes()


def test_what_the_arrays_refuse_is_refused(found: Library) -> None:
    attendance, process = attendance_of(DiurnalSessions())
    with pytest.raises(IndexError):
        attendance.available(np.array([3, CLIENTS]), 5.0)
    with pytest.raises(ValueError, match="client must be from 0"):
        attendance.session_end(np.array([-1]), 5.0)
    with pytest.raises(RunError, match=r"virtual time .* choose longer sessions or gaps"):
        attendance.available(np.array([3]), 2.0**45 * float(process.length(np.arange(1))[0]))


@pytest.mark.parametrize("on", [False, True])
def test_no_change_is_found_beyond_the_blocks_looked_at(on: bool, found: Library) -> None:
    process = attendance_of(MODELS[0])[1]
    everyone, t = np.arange(CLIENTS), 5e5
    shortcut = process.shortcut
    assert shortcut is not None
    ends = {ahead: shortcut.changes(everyone, t, on, ahead)[0] for ahead in (1, 2, 1000)}
    block = np.floor(t / process.length(everyone))
    for ahead in (1, 2):
        within = ends[1000] < (block + ahead) * process.length(everyone)
        assert 0 < within.sum() < CLIENTS
        assert ends[ahead].tobytes() == np.where(within, ends[1000], np.inf).tobytes()

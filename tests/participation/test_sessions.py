import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.fleet import Fleet
from driftfold.participation import Sessions
from driftfold.participation.blocks import InBlocks
from driftfold.participation.sessions import union
from driftfold.rng import Seed
from tests.participation.fleets import fleet_of
from tests.participation.intervals import from_blocks

HOUR = 3600.0


def test_unions() -> None:
    starts = np.array([[3.0, 1.0, np.inf], [1.0, 2.0, 5.0]])
    ends = np.array([[4.0, 3.0, np.inf], [9.0, 3.0, 6.0]])
    times, on = union(starts, ends)
    assert times[:, :2].tolist() == [[1.0, 4.0], [1.0, 9.0]]
    assert np.isinf(times[:, 2:]).all()
    assert on[:, :2].tolist() == [[True, False]] * 2


def test_nobody_may_be_asked_about() -> None:
    attendance = Sessions().attend(fleet_of(3))
    nobody = np.arange(0)
    assert attendance.available(nobody, 5.0).shape == (0,)
    assert attendance.session_end(nobody, 5.0).shape == (0,)


def lengths(model: Sessions, clients: int, days: int) -> Floats:
    attendance = model.attend(fleet_of(clients))
    assert isinstance(attendance, InBlocks)
    lives = from_blocks(attendance, clients, days * 24 * HOUR)
    on = [np.diff(life.times)[int(life.on) :: 2] for life in lives]
    return np.concatenate(on)


@pytest.mark.slow
def test_day_sessions_are_lognormal() -> None:
    drawn = np.log(lengths(Sessions(nights=0.0, habits=0.0), 200, 30) / 60)
    # The day's end cuts one session in about thirty.
    assert abs(np.median(drawn) - np.log(20)) < 0.08
    assert abs(drawn.std() - 1.0) < 0.05


@pytest.mark.slow
def test_night_sessions_are_lognormal_and_as_frequent_as_told() -> None:
    drawn = lengths(Sessions(nights=0.7, gap=1e6, gap_spread=0.0), 200, 30) / HOUR
    assert abs(len(drawn) / (200 * 30) - 0.7) < 0.03
    assert abs(np.median(drawn) - 8.0) < 0.2
    assert abs(np.log(drawn).std() - 0.35) < 0.03


@pytest.mark.slow
def test_the_law_is_the_same_every_day_from_the_first() -> None:
    size = 10_000
    attendance = Sessions().attend(fleet_of(size))
    everyone = np.arange(size)
    for hour in (0.0, 3.0, 12.0, 20.0):
        shares = [
            attendance.available(everyone, (24 * day + hour) * HOUR).mean() for day in (0, 1, 400)
        ]
        # Six standard errors of a difference of two shares of 10,000 clients.
        assert max(shares) - min(shares) < 6 * np.sqrt(0.5 / size)


def test_a_client_is_off_when_its_session_ends() -> None:
    """With bedtimes so unlike that nights are cut at the day's begin, and begin there."""
    fleet = Fleet(Seed(7), samples=np.full(2000, 5), importance=np.full(2000, 1 / 2000))
    attendance = Sessions(bedtime_spread=6.0).attend(fleet)
    everyone = np.arange(2000)
    for time in np.linspace(1e5, 9e5, 9):
        on = everyone[attendance.available(everyone, time)]
        for client, end in zip(on[::7], attendance.session_end(on, time)[::7], strict=True):
            assert not attendance.available(np.array([client]), end)[0]

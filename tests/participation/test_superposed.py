"""Clients that are hardly ever on, or off: found at once, never given up, of the stated law."""

import numpy as np
import pytest

from driftfold.errors import RunError
from driftfold.participation import DiurnalSessions, MarkovSessions, Participation
from driftfold.participation.blocks import InBlocks
from driftfold.participation.superposed import RARE, ByClient, Superposed
from tests.participation.fleets import fleet_of
from tests.participation.intervals import compare, moments
from tests.participation.oracles import lives

HOUR, DAY = 3600.0, 86400.0


@pytest.mark.parametrize(
    ("model", "mean"),
    [
        (MarkovSessions(p=1e-7, session=HOUR, spread=0.0), HOUR / 1e-7),
        (DiurnalSessions(duty=1e-7), HOUR / 1e-7),
    ],
    ids=repr,
)
def test_rare_clients_come_after_the_gaps_of_their_law(model: Participation, mean: float) -> None:
    size = 400
    attendance = model.attend(fleet_of(size))
    everyone, t = np.arange(size), 1e6
    begins = attendance.next_on(everyone, t)
    # Exponential: mean and standard deviation are one number, so five standard errors are these.
    assert abs((begins - t).mean() / mean - 1) < 5 / np.sqrt(size)
    ranks = (np.arange(size) + 0.5) / size
    law = 1 - np.exp(-np.sort(begins - t) / mean)
    # Kolmogorov's statistic exceeds 2 / sqrt(n) with probability 7e-4.
    assert np.abs(law - ranks).max() < 2 / np.sqrt(size)
    assert not attendance.available(everyone, t).any()
    some = everyone[:5]
    for client, begin in zip(some.tolist(), begins[some].tolist(), strict=True):
        one = np.array([client])
        assert attendance.available(one, begin)[0]
        assert not attendance.available(one, float(np.nextafter(begin, 0)))[0]
        assert attendance.session_end(one, begin)[0] > begin


def test_who_is_hardly_ever_off_leaves_after_the_sessions_of_its_law() -> None:
    size = 1000
    attendance = MarkovSessions(p=1 - 1e-6, session=HOUR, spread=0.0).attend(fleet_of(size))
    everyone, t = np.arange(size), 1e5
    assert attendance.available(everyone, t).all()
    ends = attendance.session_end(everyone, t)
    assert abs((ends - t).mean() / HOUR - 1) < 5 / np.sqrt(size)
    size = 100
    back = np.array([attendance.next_on(np.array([i]), ends[i])[0] for i in range(size)])
    gap = HOUR * 1e-6 / (1 - 1e-6)
    # Times are multiples of 2^-35 s here, 3e-11 of 3.6e-3.
    assert abs((back - ends[:size]).mean() / gap - 1) < 5 / np.sqrt(size)


@pytest.mark.slow
def test_shares_are_stationary_from_the_start() -> None:
    size, p = 200_000, 2.0**-13
    attendance = MarkovSessions(p=p, session=HOUR).attend(fleet_of(size))
    everyone = np.arange(size)
    for t in (0.0, HOUR, 1e7):
        on = int(attendance.available(everyone, t).sum())
        assert abs(on - size * p) < 5 * np.sqrt(size * p)


def test_only_rare_clients_are_done_apart() -> None:
    shares = (0.0, 1e-9, RARE / 2, RARE * 2, 0.5, 1 - RARE * 8, 1 - 1e-5, 1.0)
    attendance = MarkovSessions(p=shares, session=7.0).attend(fleet_of(len(shares)))
    assert isinstance(attendance, ByClient)
    assert attendance.rare.tolist() == [False, True, True, False, False, False, True, False]
    assert isinstance(attendance.usual, InBlocks)
    everyone = np.arange(len(shares))
    usual = np.flatnonzero(~attendance.rare)
    for t in (0.0, 5.0, 1e4):
        for ask in ("available", "session_end", "next_on"):
            got = getattr(attendance, ask)(everyone, t)
            assert got[usual].tobytes() == getattr(attendance.usual, ask)(usual, t).tobytes()
    until = 2.0
    truth = lives(attendance, len(shares), 2 * until)
    rng = np.random.default_rng(3)
    asked = moments(truth, until, 10, rng)
    assert compare(attendance, truth, asked, rng) == 10 * len(shares)


@pytest.mark.parametrize("p", [1e-300, 5e-324])
def test_who_comes_after_all_that_can_be_asked_about_never_comes(p: float) -> None:
    attendance = MarkovSessions(p=p).attend(fleet_of(5))
    assert isinstance(attendance, Superposed)
    assert attendance.next_on(np.arange(5), 3.0).tolist() == [np.inf] * 5


def test_blocks_go_on_beyond_32_bits() -> None:
    """Blocks of 7e-4 s: they are numbered beyond 2^32 after 35 days."""
    size = 500
    attendance = MarkovSessions(p=1 - 1e-7, session=HOUR, spread=0.0).attend(fleet_of(size))
    everyone = np.arange(size)
    for t in (2.0**32 * 7.2e-4, 1e8):
        ends = attendance.session_end(everyone, t)
        assert abs((ends - t).mean() / HOUR - 1) < 5 / np.sqrt(size)
    assert isinstance(attendance, Superposed)
    comes = attendance.comes.process
    low, high = (comes.switches(everyone, np.full(size, n))[0][:, 0] for n in (5, 5 + 2**32))
    both = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    length = comes.length(everyone)[both]
    apart = np.abs(high[both] % length - low[both] % length) > 1e-3 * length
    assert apart.mean() > 0.9  # two thousandths lie so near each other by chance


def test_times_beyond_all_blocks_are_refused() -> None:
    with pytest.raises(RunError, match=r"1e\+30 s.*choose longer sessions"):
        MarkovSessions(p=1e-7).attend(fleet_of(5)).available(np.arange(5), 1e30)

"""The roster knows who is there as well as asking everybody does, and asks few."""

import numpy as np
import pytest

from driftfold.fleet import Fleet
from driftfold.participation import Always, DiurnalSessions, MarkovSessions, Participation
from driftfold.rng import Seed
from driftfold.world.roster import MOST, Roster
from tests.world.test_large_fleets import asked


@pytest.mark.parametrize("kind", [MarkovSessions(p=0.05), DiurnalSessions(duty=0.05)])
def test_the_pool_is_that_of_asking_everybody(kind: Participation) -> None:
    """Clients that are there go on visits at random, and come back."""
    n, time = 60, 0.0
    fleet = Fleet(Seed(3), np.full(n, 5), np.full(n, 1 / n))
    attendance, everyone = kind.attend(fleet), np.arange(n)
    draws = np.random.default_rng(5)
    busy = set(everyone[attendance.available(everyone, time)].tolist())
    idle = np.setdiff1d(everyone, list(busy))
    roster, met = Roster(attendance, idle, time), 0
    assert roster.soonest == attendance.next_on(idle, time).min()
    for _ in range(80):
        time += draws.exponential(900.0)
        for client in [c for c in busy if draws.random() < 0.3]:
            busy.remove(client)
            roster.back(client)
        pool = roster.pool(time, busy)
        on = everyone[attendance.available(everyone, time)]
        assert pool.tolist() == np.setdiff1d(on, list(busy)).tolist()
        off = np.setdiff1d(np.setdiff1d(everyone, on), list(busy))
        # Nobody who is off comes earlier than it says; who comes may be one that is busy.
        assert roster.soonest <= attendance.next_on(off, time).min(initial=np.inf)
        assert roster.soonest > time
        busy |= {int(c) for c in pool if draws.random() < 0.7}
        met += len(pool)
    assert met > 40


def test_many_who_are_there_are_a_crowd() -> None:
    fleet = Fleet(Seed(1), np.full(5000, 5), np.full(5000, 1 / 5000))
    roster = Roster(Always().attend(fleet), np.array([], dtype=np.int64), 0.0)
    for client in range(MOST + 1):
        assert not roster.crowded
        roster.back(client)
    assert roster.crowded


def test_where_too_few_are_there_few_are_asked() -> None:
    """Ten times as many places as clients that are there."""
    few = asked(1_000, "cadence.concurrency=5000", "cadence.restock=0.0", "horizon.seconds=60")
    # Each visit ends, and each session begins, with a look at those few who may be there.
    assert 1 <= few["available"] < 3
    assert few["next_on"] < 10  # 750 of them at the start, when everybody is looked at

"""Counts of a round and of the run."""

import json

from driftfold.world.tally import OUTCOMES, Tally


def test_rounds_and_totals() -> None:
    tally = Tally()
    tally.add("invited", 5)
    tally.add("arrived")
    first = tally.close_round()
    assert set(first) == set(OUTCOMES)
    assert (first["invited"], first["arrived"], first["late"]) == (5.0, 1.0, 0.0)
    assert all(isinstance(value, float) for value in first.values())
    tally.add("invited", 2)
    assert tally.counts()["invited"] == 7, "the present round is part of the run"
    second = tally.close_round()
    assert second["invited"] == 2.0
    assert tally.counts()["invited"] == 7
    assert all(type(value) is int for value in tally.counts().values())


def test_a_restored_tally_goes_on() -> None:
    tally = Tally()
    tally.add("late", 3)
    tally.close_round()
    tally.add("late", 1)
    other = Tally()
    other.add("late", 100)
    other.restore(json.loads(json.dumps(tally.state())))
    assert other.counts() == tally.counts()
    assert other.close_round() == tally.close_round()

"""Mixtures of domains on their routes."""

import numpy as np
import pytest

from driftfold.drift import DomainMixture
from driftfold.drift.schedules import Linear, Square, Step
from driftfold.errors import CapabilityError, SpecError
from tests.drift.timelines import pool, timeline

DOMAINS = np.array([0, 1, 2, 3, 1, 0])


def test_a_route_of_two_is_a_mixture_of_both() -> None:
    course = DomainMixture(Linear(), (2, 0)).bind(timeline(), pool(domain=DOMAINS))
    shares = course.shares(np.zeros(100, int), np.arange(100))
    assert shares[:, 0] == pytest.approx(np.arange(100) / 99, abs=1e-15)
    assert shares[:, 2] == pytest.approx(1 - np.arange(100) / 99, abs=1e-15)
    assert not shares[:, [1, 3]].any()


def test_a_longer_route_stops_at_each_domain() -> None:
    schedule = Step(at=(10, 20, 30), levels=(0.0, 1 / 3, 2 / 3, 1.0))
    course = DomainMixture(schedule, (3, 0, 2, 1)).bind(timeline(), pool(domain=DOMAINS))
    for step, domain in ((0, 3), (10, 0), (20, 2), (99, 1)):
        shares = course.shares(np.array([5]), np.array([step]))[0]
        assert shares == pytest.approx(np.eye(4)[domain], abs=1e-15)
    assert course.changes(0).tolist() == [10, 20, 30]


def test_true_changes_are_also_where_the_next_domain_comes_in() -> None:
    line, place = timeline(steps=101), pool(domain=DOMAINS)
    assert DomainMixture(Linear(), (0, 1)).bind(line, place).changes(0).tolist() == [1]
    # At step 50 domain 1 is alone, at 51 the first of domain 2 comes.
    assert DomainMixture(Linear(), (0, 1, 2)).bind(line, place).changes(0).tolist() == [1, 51]


def test_routes_of_clients() -> None:
    line, place = timeline(clients=4), pool(domain=DOMAINS)
    zero = np.zeros(4, int)
    entered = DomainMixture(Square(), (0, 1, 2), "number").bind(line, place)
    assert entered.shares(np.arange(4), zero).argmax(axis=1).tolist() == [0, 1, 2, 0]
    drawn = DomainMixture(Square(), (0, 1, 2), "drawn").bind(timeline(clients=600), place)
    first = drawn.shares(np.arange(600), np.zeros(600, int)).argmax(axis=1)
    assert np.bincount(first) == pytest.approx(200, abs=5 * np.sqrt(600 * 2 / 9))


def test_domains_must_be_there() -> None:
    with pytest.raises(CapabilityError, match="these data have none"):
        DomainMixture().bind(timeline(), pool())
    with pytest.raises(SpecError, match="no samples of domain 4"):
        DomainMixture(route=(0, 4)).bind(timeline(), pool(domain=DOMAINS))

"""A service is hurt in every way there is, and loses nothing; a short one of `make chaos`."""

import sys

import pytest

from tests.faults.chaos.campaign import Plan, campaign
from tests.faults.chaos.faults import FAULTS
from tests.faults.chaos.orders import orders
from tests.faults.chaos.recovery import Stand, random_kills
from tests.faults.chaos.schedule import fault
from tests.workers.experiments import Behaviour

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def test_a_short_campaign_is_the_beginning_of_a_long_one() -> None:
    plan = [fault(3, number, tuple(FAULTS), 1.0) for number in range(1, 4 * len(FAULTS) + 1)]
    turns = [plan[first : first + len(FAULTS)] for first in range(0, len(plan), len(FAULTS))]
    assert all({each.kind for each in turn} == set(FAULTS) for turn in turns)
    assert len({tuple(each.kind for each in turn) for turn in turns}) > 1
    assert orders(3, 100) == orders(3, 1000)[: len(orders(3, 100))]


@pytest.mark.slow
@LINUX
@pytest.mark.asyncio
async def test_each_fault_once() -> None:
    plan = Plan(seed=2, faults=len(FAULTS), rounds=600, every=0.7)
    report = await campaign(plan)
    assert report.broken == {}, report.folder
    assert set(report.faults) == set(FAULTS)
    assert report.rounds >= plan.rounds


@pytest.mark.slow
@LINUX
@pytest.mark.asyncio
async def test_ten_random_kills(behaviour: Behaviour) -> None:
    async with Stand.open(behaviour) as stand:
        await stand.up()
        told = await random_kills(stand, 10)
    assert told["kills"] == 10
    assert told["attempts"] > 5

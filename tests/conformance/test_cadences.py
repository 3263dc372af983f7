"""Every registered cadence keeps its contract, and the check finds those that do not."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from driftfold.kernel import sleep
from driftfold.registry import kind_of, kinds, register
from driftfold.selection import F3ast, RoundRobin, WeightedSelection
from driftfold.testing.cadence import TABLE, check_cadence
from driftfold.world.cadence import Cadence
from driftfold.world.cadences import (
    AsynchronousTiers,
    Buffered,
    Immediate,
    OnlineSteps,
    Periodic,
    Synchronous,
    Tiered,
)
from driftfold.world.server import Server
from tests.world import toys

ONE_PHASE = {
    **TABLE,
    "task": {"kind": "test-quadratic", "clients": 12},
    "algorithm": {"kind": "fedavg"},
}
EXAMPLES: list[Cadence] = [
    Synchronous(),
    Synchronous(cohort=3),
    Synchronous(cohort=3, over_selection=1.7),
    Synchronous(deadline=20.0, pause=5.0),
    Synchronous(cohort=4, over_selection=1.5, deadline=60.0),
    OnlineSteps(period=30.0, rounds=2, cohort=3, late="carry"),
]
FLOWS: list[Cadence] = [
    Buffered(concurrency=4, buffer=2, max_staleness=1, patience=30.0),
    Immediate(concurrency=3),
    Periodic(period=2.0, concurrency=1),
    AsynchronousTiers(tiers=3, cohort=2),
]
SLOW_FLOWS: list[Cadence] = [
    Buffered(concurrency=4, buffer=2, max_staleness=1, beyond="clip", share=True),
    Buffered(concurrency=20, buffer=3, max_staleness=0),
    Immediate(concurrency=20, mixes="model", max_staleness=2),
    Periodic(period=5.0, concurrency=8, max_staleness=1, restock=2.0),
    Tiered(tiers=3, minimum=2),
    *(Synchronous(cohort=3, selection=s) for s in (F3ast(), WeightedSelection())),
    *(Buffered(4, 2, selection=s) for s in (F3ast(), RoundRobin(), WeightedSelection())),
]

assert toys  # importing it registers its kinds


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind for kind, cls in kinds("cadence").items() if cls.__module__.startswith("driftfold.")
    }
    assert shipped == {kind_of(rule) for rule in [*EXAMPLES, *FLOWS, *SLOW_FLOWS]}


@pytest.mark.parametrize("cadence", EXAMPLES, ids=repr)
def test_contract(cadence: Cadence) -> None:
    check_cadence(cadence)


@pytest.mark.parametrize(
    "cadence",
    [*FLOWS, *(pytest.param(rule, marks=pytest.mark.slow) for rule in SLOW_FLOWS)],
    ids=repr,
)
def test_contract_without_rounds(cadence: Cadence) -> None:
    check_cadence(cadence, ONE_PHASE)


def test_one_phase() -> None:
    check_cadence(Synchronous(cohort=4, over_selection=1.5), ONE_PHASE)


def test_a_buffered_cadence_of_somebody_else() -> None:
    check_cadence(toys.Buffered())


def test_chooses_says_when_a_probability_is_not_the_participations_alone() -> None:
    assert Synchronous().chooses() is None
    for cadence in [*EXAMPLES[1:], *FLOWS]:
        assert cadence.chooses()


@register("test-peeking")
@dataclass(frozen=True)
class Peeking(Synchronous):
    """Lets the model decide how long a round lasts, behind the log's back."""

    async def advance(self, server: Server) -> None:
        if server.aggregator.state is not None:
            await sleep(float(np.abs(server.aggregator.state.point).sum()), 7)
        await super().advance(server)


@register("test-remembering")
@dataclass(frozen=True)
class Remembering(Synchronous):
    """Counts its rounds in itself."""

    rounds: list[int] = field(default_factory=list, compare=False, repr=False)

    async def advance(self, server: Server) -> None:
        self.rounds.append(server.version)
        await sleep(float(len(self.rounds)), 7)
        await super().advance(server)


@register("test-hasty")
@dataclass(frozen=True)
class Hasty(Synchronous):
    """Takes two server steps in one go."""

    async def advance(self, server: Server) -> None:
        await super().advance(server)
        await super().advance(server)


@pytest.mark.parametrize(
    ("cadence", "message"),
    [
        (Peeking(), "with other values other things happened"),
        (Remembering(), "a second run was another one"),
        (Hasty(), "the first advance took 2 server steps"),
    ],
    ids=["peeking", "remembering", "hasty"],
)
def test_the_check_finds_what_is_wrong(cadence: Cadence, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_cadence(cadence)

"""Every registered cadence keeps its contract, and the check finds those that do not."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from driftfold.kernel import sleep
from driftfold.registry import kind_of, kinds, register
from driftfold.testing.cadence import TABLE, check_cadence
from driftfold.world.cadence import Cadence, Synchronous
from driftfold.world.server import Server
from tests.world import toys

TWO_PHASE = {
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
]

assert toys  # importing it registers its kinds


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind for kind, cls in kinds("cadence").items() if cls.__module__.startswith("driftfold.")
    }
    assert shipped == {kind_of(rule) for rule in EXAMPLES}


@pytest.mark.parametrize("cadence", EXAMPLES, ids=repr)
def test_contract(cadence: Cadence) -> None:
    check_cadence(cadence)


def test_one_phase() -> None:
    check_cadence(Synchronous(cohort=4, over_selection=1.5), TWO_PHASE)


def test_a_buffered_cadence_of_somebody_else() -> None:
    check_cadence(toys.Buffered())
    check_cadence(toys.Buffered(concurrency=4, buffer=2), TWO_PHASE)


def test_chooses_says_when_a_probability_is_not_the_participations_alone() -> None:
    assert Synchronous().chooses() is None
    for cadence in EXAMPLES[1:]:
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

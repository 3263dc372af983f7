"""Turns within tiers: whoever is as fast as others has as many turns."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from driftfold.algorithms import FedAvg
from driftfold.arrays import Ints
from driftfold.fleet import Fleet
from driftfold.latency import Constant, Stragglers
from driftfold.registry import register
from driftfold.run import run
from driftfold.selection import RoundRobin
from driftfold.spec.job import JobSpec
from driftfold.world.cadence import Cadence
from driftfold.world.cadences import AsynchronousTiers, Tiered
from driftfold.world.policy import Horizon
from tests.world.toys import Quadratic

CHOSEN: Counter[int] = Counter()


@register("test-watched-turns")
@dataclass(frozen=True)
class Watched(RoundRobin):
    """Turns, and who had them."""

    def choose(
        self, state: Any, fleet: Fleet, pool: Ints, k: int, dispatch: int
    ) -> tuple[Ints, Any]:
        chosen, state = super().choose(state, fleet, pool, k, dispatch)
        CHOSEN.update(chosen.tolist())
        return chosen, state


@pytest.mark.parametrize(
    "cadence",
    [
        AsynchronousTiers(tiers=2, cohort=5, selection=Watched()),
        Tiered(tiers=2, cohort=5, selection=Watched()),
    ],
    ids=repr,
)
def test_clients_of_a_tier_take_turns_among_themselves(cadence: Cadence) -> None:
    """The first ten are slow, so that ids and tiers go together."""
    CHOSEN.clear()
    run(
        JobSpec(
            task=Quadratic(clients=20),
            algorithm=FedAvg(steps=1),
            latency=Stragglers(Constant(overhead=1.0), clients=10, factor=10.0),
            cadence=cadence,
            horizon=Horizon(rounds=60),
        )
    )
    for tier in (range(10), range(10, 20)):
        turns = [CHOSEN[c] for c in tier]
        assert max(turns) - min(turns) <= 1
        assert min(turns) > 1

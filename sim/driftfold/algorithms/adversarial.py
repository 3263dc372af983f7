"""Adversarial clients: some send what an attack makes of their vectors.

Against them the server may combine robustly: `combine` of the inner algorithm ("median",
"trimmed_mean", "geometric_median").
"""

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from annotated_types import Ge, Interval

from driftfold.algorithms.base import LocalResult, Phase
from driftfold.algorithms.wrapped import Altered, Wrapper, where
from driftfold.arrays import Bools
from driftfold.attacks.base import Attack
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.tasks.base import Problem, View

Attackers: TypeAlias = Annotated[float, Interval(ge=0, le=1)] | tuple[Annotated[int, Ge(0)], ...]
"""A share of the clients, chosen by the seed, or a list of their ids."""


@register("adversarial")
@dataclass(frozen=True)
class Adversarial(Wrapper):
    """An algorithm some of whose clients attack, in every phase and at every visit.

    An attacker does its work as all do, and sends another vector; honest payloads are unchanged.

    Attributes
    ----------
    algorithm
        The inner algorithm.
    attack
        What an attacker sends.
    attackers
        Who attacks: a share of all clients (rounded to whole ones, chosen by the seed), or a list
        of ids.

    Raises
    ------
    SpecError
        A client is listed that the fleet has not, when the phases are made.
    """

    attack: Attack
    attackers: Attackers = 0.1

    def check(self, problem: Problem) -> None:
        """Require payloads that the attack can change, and attackers that are there."""
        super().check(problem)
        for phase in self.phases(problem):
            assert isinstance(phase, Altered)
            self.attack.check(phase.space)

    def needs_whole_work(self) -> None:
        """An attacker makes of a part what it makes of a whole."""
        return

    def wrap(self, phase: Phase[Any, Any, Any], number: int, problem: Problem) -> Altered:
        """Return the phase with attackers."""
        return UnderAttack(phase, number, problem, self.attack, self.who(problem))

    def who(self, problem: Problem) -> Bools:
        """Whether each client attacks, shape (N,)."""
        size, attackers = problem.fleet.size, self.attackers
        if isinstance(attackers, tuple):
            if unknown := [client for client in attackers if client >= size]:
                raise SpecError(
                    f"client {unknown[0]} is to attack, but there are {size} clients, 0 to "
                    f"{size - 1}; list ids of those, or give a share"
                )
            chosen = np.array(attackers, dtype=np.int64)
        else:
            stream = problem.fleet.seed.stream("adversarial.attackers")
            chosen = stream.subsets(0, 0, population=size, size=round(attackers * size))
        attacks = np.zeros(size, dtype=bool)
        attacks[chosen] = True
        return attacks


@dataclass(frozen=True, eq=False)
class UnderAttack(Altered):
    """One exchange with attackers; `attacks` tells for each client whether it is one."""

    attack: Attack
    attacks: Bools

    def alter(
        self, result: LocalResult[Any], download: Any, view: View, own: Any
    ) -> LocalResult[Any]:
        """Corrupt the attackers' vectors."""
        bad = self.attacks[view.clients]
        if not np.any(bad):
            return LocalResult(result.payload, own, result.metrics)
        x, stream = self.base(download), view.stream(f"adversarial/{self.number}")
        vector = self.attack.corrupt(
            self.space,
            x,
            self.vector(result.payload, x),
            lambda count: stream.normal(view.clients, view.dispatches, count),
        )
        return LocalResult(
            where(np.asarray(bad), self.payload(x, vector), result.payload), own, result.metrics
        )

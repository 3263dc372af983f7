"""Cadence: when the server invites, and when it steps."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.kernel import now
from driftfold.registry import family, register
from driftfold.world.selection import Selection, UniformSelection

if TYPE_CHECKING:
    from driftfold.world.server import Server


@family("cadence")
class Cadence(ABC):
    """Rule that drives the server. It sees who arrived and when, never what they sent."""

    @abstractmethod
    async def advance(self, server: "Server") -> None:
        """Do whatever leads to the next server step; return right after the version has grown."""

    @abstractmethod
    def chooses(self) -> str | None:
        """Say how the cadence itself decides whose answers count; None if all answers do."""


@register("synchronous")
@dataclass(frozen=True)
class Synchronous(Cadence):
    """Rounds: invite a cohort, wait for it, step.

    Attributes
    ----------
    cohort
        Clients whose answers make a round; None invites everybody who is there.
    over_selection
        Invite this many times the cohort; the round closes at the instant when `cohort` of them
        have answered, and those who have not are sent home.
    deadline
        Virtual seconds after which a phase closes with whoever has answered, if only at that very
        instant; None waits for all.
    pause
        Virtual seconds that a round lasts in which nobody answers.
    selection
        How the cohort is chosen from the clients that are there.
    """

    cohort: Annotated[int, Gt(0)] | None = None
    over_selection: Annotated[float, Ge(1)] = 1.0
    deadline: Annotated[float, Gt(0)] | None = None
    pause: Annotated[float, Gt(0)] = 1.0
    selection: Selection = field(default_factory=UniformSelection)

    def chooses(self) -> str | None:
        """A cohort is a choice, and so is a deadline."""
        if self.cohort is not None:
            return "the server picks a cohort of its own"
        if self.deadline is not None:
            return "who is in time for the deadline depends on the delays"
        return None

    async def advance(self, server: "Server") -> None:
        """Run one round through all phases."""
        pool = await server.somebody()
        if self.cohort is not None:
            wanted = math.ceil(self.cohort * self.over_selection)
            stream = server.world.fleet.seed.stream("selection")
            pool = self.selection.choose(pool, wanted, server.dispatches, stream)
        willing, dispatch = server.invite(pool)
        here = server.unburdened(willing)
        for phase in range(len(server.world.phases)):
            if server.carried:
                here = np.union1d(here, server.carrying(willing, phase))
            sent = server.send(phase, here, dispatch)
            if sent:
                enough = min(sent, self.cohort or sent)
                closes = math.inf if self.deadline is None else now() + self.deadline
                await server.inbox.fill({phase: enough}, closes)
                server.dismiss(dispatch)
            arrivals = server.inbox.take(phase)
            later = range(phase + 1, len(server.world.phases))
            if arrivals:
                here = server.step(phase, arrivals)
            elif any(len(server.carrying(willing, p)) for p in later):
                here = here[:0]
            else:
                await server.skip(self.pause, dispatch)
                return

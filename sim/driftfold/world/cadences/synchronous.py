"""Rounds: all together, one after the other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from driftfold.registry import register
from driftfold.world.cadences.rounds import Rounds

if TYPE_CHECKING:
    from driftfold.world.server import Server


@register("synchronous")
@dataclass(frozen=True)
class Synchronous(Rounds):
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
        Virtual seconds that a round lasts, beyond its own, in which nobody answers, or too few.
    minimum
        Fewest answers that a phase needs; a round with fewer leaves the model as it was.
    selection
        How the cohort is chosen from the clients that are there.
    """

    async def advance(self, server: "Server") -> None:
        """Run one round."""
        await self.play(server, await server.somebody())

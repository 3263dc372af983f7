"""Cadence: when the server invites, and when it steps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from driftfold.algorithms.base import Phase
from driftfold.errors import CapabilityError
from driftfold.registry import family, kind_of
from driftfold.tasks.base import Problem

if TYPE_CHECKING:
    from driftfold.world.server import Server


@family("cadence")
class Cadence(ABC):
    """Rule that drives the server. It sees who arrived and when, never what they sent."""

    repeats: bool = False
    """Whether a client may contribute more than once to one server step."""

    groups: int = 1
    """Cohorts that are at work side by side, each of which makes server steps of its own."""

    @abstractmethod
    async def advance(self, server: "Server") -> None:
        """Do whatever leads to the next server step; return right after the version has grown."""

    @abstractmethod
    def chooses(self) -> str | None:
        """Say how the cadence itself decides whose answers count; None if all answers do."""

    def check(self, phases: Sequence[Phase[Any, Any, Any]], problem: Problem) -> None:
        """Raise `CapabilityError` where the cadence has no meaning for an algorithm's phases."""
        wanted = max(phase.groups for phase in phases)
        if wanted not in (1, self.groups):
            raise CapabilityError(
                f"the algorithm keeps {wanted} cohorts apart, and cadence '{kind_of(self)}' has "
                f"{self.groups}; choose cadence 'asynchronous_tiers' with tiers = {wanted}"
            )

    def conventions(self) -> Mapping[str, str]:
        """What is a matter of definition, for the result. Default: nothing."""
        return {}

"""Cadence: when the server invites, and when it steps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from driftfold.algorithms.base import Phase
from driftfold.manifolds.base import Manifold
from driftfold.registry import family

if TYPE_CHECKING:
    from driftfold.world.server import Server


@family("cadence")
class Cadence(ABC):
    """Rule that drives the server. It sees who arrived and when, never what they sent."""

    repeats: bool = False
    """Whether a client may contribute more than once to one server step."""

    @abstractmethod
    async def advance(self, server: "Server") -> None:
        """Do whatever leads to the next server step; return right after the version has grown."""

    @abstractmethod
    def chooses(self) -> str | None:
        """Say how the cadence itself decides whose answers count; None if all answers do."""

    def check(self, phases: Sequence[Phase[Any, Any, Any]], manifold: Manifold) -> None:
        """Raise `CapabilityError` where the cadence has no meaning for an algorithm's phases."""
        return

    def conventions(self) -> Mapping[str, str]:
        """What is a matter of definition, for the result. Default: nothing."""
        return {}

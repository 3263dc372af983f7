"""Cadences: the ways in which rounds follow each other."""

from driftfold.world.cadences.asynchronous_tiers import AsynchronousTiers
from driftfold.world.cadences.buffered import Buffered
from driftfold.world.cadences.immediate import Immediate
from driftfold.world.cadences.periodic import Periodic
from driftfold.world.cadences.stream import OnlineSteps
from driftfold.world.cadences.synchronous import Synchronous
from driftfold.world.cadences.tiered import Tiered

__all__ = [
    "AsynchronousTiers",
    "Buffered",
    "Immediate",
    "OnlineSteps",
    "Periodic",
    "Synchronous",
    "Tiered",
]

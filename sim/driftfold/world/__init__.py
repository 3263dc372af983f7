"""The world: the server, its clients, and the story of a run."""

from driftfold.world.arrival import Arrival
from driftfold.world.cadence import Cadence
from driftfold.world.cadences.synchronous import Synchronous
from driftfold.world.policy import FaultPolicy, Horizon
from driftfold.world.server import Server
from driftfold.world.world import World

__all__ = [
    "Arrival",
    "Cadence",
    "FaultPolicy",
    "Horizon",
    "Server",
    "Synchronous",
    "World",
]

"""The world: the server, its clients, and the story of a run."""

from driftfold.world.cadence import Cadence, Synchronous
from driftfold.world.inbox import Arrival
from driftfold.world.policy import FaultPolicy, Horizon
from driftfold.world.selection import Selection, UniformSelection
from driftfold.world.server import Server
from driftfold.world.world import World

__all__ = [
    "Arrival",
    "Cadence",
    "FaultPolicy",
    "Horizon",
    "Selection",
    "Server",
    "Synchronous",
    "UniformSelection",
    "World",
]

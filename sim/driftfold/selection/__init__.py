"""Selection: which of the clients that are there the server invites."""

from driftfold.selection.base import Selection
from driftfold.selection.f3ast import F3ast
from driftfold.selection.repeated import Repeated
from driftfold.selection.round_robin import RoundRobin
from driftfold.selection.uniform import UniformSelection
from driftfold.selection.weighted import WeightedSelection

__all__ = ["F3ast", "Repeated", "RoundRobin", "Selection", "UniformSelection", "WeightedSelection"]

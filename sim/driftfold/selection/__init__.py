"""Selection: which of the clients that are there the server invites."""

from driftfold.selection.base import Selection
from driftfold.selection.uniform import UniformSelection

__all__ = ["Selection", "UniformSelection"]

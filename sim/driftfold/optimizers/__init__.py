"""Server optimisers: what the server does with the vector that a round has given it."""

from driftfold.optimizers.adam import Adam
from driftfold.optimizers.base import ServerOptimizer
from driftfold.optimizers.descend import Descend
from driftfold.optimizers.momentum import Momentum

__all__ = ["Adam", "Descend", "Momentum", "ServerOptimizer"]

"""Schedules: how far a client's data have moved, at any step."""

from driftfold.drift.schedules.bernoulli import Bernoulli
from driftfold.drift.schedules.between import Between
from driftfold.drift.schedules.constant import Constant
from driftfold.drift.schedules.gradual import Gradual
from driftfold.drift.schedules.incremental import Incremental
from driftfold.drift.schedules.linear import Linear
from driftfold.drift.schedules.recurring import Recurring
from driftfold.drift.schedules.sine import Sine
from driftfold.drift.schedules.square import Square
from driftfold.drift.schedules.staggered import Staggered
from driftfold.drift.schedules.step import Step

__all__ = [
    "Bernoulli",
    "Between",
    "Constant",
    "Gradual",
    "Incremental",
    "Linear",
    "Recurring",
    "Sine",
    "Square",
    "Staggered",
    "Step",
]

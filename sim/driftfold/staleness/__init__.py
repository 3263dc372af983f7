"""Staleness: how much an answer counts that was computed from an older model."""

from driftfold.staleness.base import Staleness
from driftfold.staleness.constant import Constant
from driftfold.staleness.hinge import Hinge
from driftfold.staleness.polynomial import Polynomial

__all__ = ["Constant", "Hinge", "Polynomial", "Staleness"]

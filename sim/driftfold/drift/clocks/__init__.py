"""Clients' own clocks: when each meets a schedule, and how fast it goes through it."""

from driftfold.drift.clocks.by_group import ByGroup
from driftfold.drift.clocks.by_presence import ByPresence
from driftfold.drift.clocks.drawn import Drawn
from driftfold.drift.clocks.given import Given
from driftfold.drift.clocks.time_zones import TimeZones

__all__ = ["ByGroup", "ByPresence", "Drawn", "Given", "TimeZones"]

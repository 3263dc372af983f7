"""Cadences: the ways in which rounds follow each other."""

from driftfold.world.cadences.buffered import Buffered
from driftfold.world.cadences.immediate import Immediate
from driftfold.world.cadences.synchronous import Synchronous

__all__ = ["Buffered", "Immediate", "Synchronous"]

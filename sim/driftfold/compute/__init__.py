"""Compute: how the work of many clients is carried out."""

from driftfold.compute.base import Compute, Engine, Stack
from driftfold.compute.debug import Debug
from driftfold.compute.loop import Loop
from driftfold.compute.results import Results
from driftfold.compute.stacked import Stacked
from driftfold.compute.ticket import Ticket

__all__ = ["Compute", "Debug", "Engine", "Loop", "Results", "Stack", "Stacked", "Ticket"]

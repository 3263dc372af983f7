"""Drift: what moves in clients' data, and when, with ground truth."""

from driftfold.drift.base import (
    ConceptCourse,
    ConceptDrift,
    Course,
    DomainCourse,
    DomainDrift,
    Drift,
    InputCourse,
    InputDrift,
    LabelCourse,
    LabelDrift,
)
from driftfold.drift.clock import Clock, Readings
from driftfold.drift.drifting import Change, Drifting, bind
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Path, Schedule
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline

__all__ = [
    "Change",
    "Clock",
    "ConceptCourse",
    "ConceptDrift",
    "Course",
    "DomainCourse",
    "DomainDrift",
    "Drift",
    "Drifting",
    "InputCourse",
    "InputDrift",
    "LabelCourse",
    "LabelDrift",
    "LabelTarget",
    "Path",
    "Pool",
    "Readings",
    "Schedule",
    "Timeline",
    "bind",
]

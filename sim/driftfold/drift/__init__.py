"""Drift: what moves in clients' data, and when, with ground truth."""

from driftfold.drift.affine_shift import AffineShift
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
from driftfold.drift.corrupted import Corrupted, Spoiling
from driftfold.drift.domains import DomainMixture
from driftfold.drift.drifting import Change, Drifting, bind, check_together
from driftfold.drift.feature_noise import FeatureNoise
from driftfold.drift.label_swaps import LabelSwaps
from driftfold.drift.labels import LabelMixture
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline

__all__ = [
    "AffineShift",
    "Change",
    "Clock",
    "Common",
    "ConceptCourse",
    "ConceptDrift",
    "Corrupted",
    "Course",
    "DomainCourse",
    "DomainDrift",
    "DomainMixture",
    "Drift",
    "Drifting",
    "FeatureNoise",
    "InputCourse",
    "InputDrift",
    "LabelCourse",
    "LabelDrift",
    "LabelMixture",
    "LabelSwaps",
    "LabelTarget",
    "Path",
    "Pool",
    "Readings",
    "Schedule",
    "Spoiling",
    "Timeline",
    "bind",
    "check_together",
]

"""Label shift: how often each class is there now, from predictions alone."""

from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.confusion import confusion_matrix
from driftfold.label_shift.inverse import Inverse
from driftfold.label_shift.prior import Prior
from driftfold.label_shift.simplex import clip_renormalise, simplex_projection
from driftfold.label_shift.source import SourceFacts, source_facts
from driftfold.label_shift.temperature import Calibration, bias_corrected_temperature
from driftfold.label_shift.uniform import Uniform

__all__ = [
    "Calibration",
    "Inverse",
    "LabelEstimate",
    "Prior",
    "SourceFacts",
    "Uniform",
    "bias_corrected_temperature",
    "clip_renormalise",
    "confusion_matrix",
    "simplex_projection",
    "source_facts",
]

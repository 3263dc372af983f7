"""Label shift: how often each class is there now, from predictions alone."""

from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.confusion import confusion_matrix
from driftfold.label_shift.em import Em
from driftfold.label_shift.flh_ftl import FlhFtl
from driftfold.label_shift.guarded import Guarded
from driftfold.label_shift.guards import Guards, negative_mass, smallest_singular_value
from driftfold.label_shift.histogram import histogram
from driftfold.label_shift.inverse import Inverse
from driftfold.label_shift.prior import Prior
from driftfold.label_shift.ridge import Ridge
from driftfold.label_shift.rlls import Rlls, rlls_radius
from driftfold.label_shift.rogd import Rogd
from driftfold.label_shift.running_mean import RunningMean
from driftfold.label_shift.simplex import clip_renormalise, simplex_projection
from driftfold.label_shift.source import SourceFacts, source_facts
from driftfold.label_shift.temperature import Calibration, bias_corrected_temperature
from driftfold.label_shift.uniform import Uniform

__all__ = [
    "Calibration",
    "Em",
    "FlhFtl",
    "Guarded",
    "Guards",
    "Inverse",
    "LabelEstimate",
    "Prior",
    "Ridge",
    "Rlls",
    "Rogd",
    "RunningMean",
    "SourceFacts",
    "Uniform",
    "bias_corrected_temperature",
    "clip_renormalise",
    "confusion_matrix",
    "histogram",
    "negative_mass",
    "rlls_radius",
    "simplex_projection",
    "smallest_singular_value",
    "source_facts",
]

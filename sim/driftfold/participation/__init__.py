"""Participation: when clients are there, and whether they answer."""

from driftfold.participation.always import Always
from driftfold.participation.base import Attendance, KnownProbability, Participation
from driftfold.participation.bernoulli import Bernoulli
from driftfold.participation.diurnal import Diurnal
from driftfold.participation.label_bernoulli import LabelBernoulli
from driftfold.participation.uniform import Uniform

__all__ = [
    "Always",
    "Attendance",
    "Bernoulli",
    "Diurnal",
    "KnownProbability",
    "LabelBernoulli",
    "Participation",
    "Uniform",
]

"""Participation: when clients are there, and whether they answer."""

from driftfold.participation.adversarial import Adversarial
from driftfold.participation.always import Always
from driftfold.participation.base import Attendance, KnownProbability, KnownSchedule, Participation
from driftfold.participation.bernoulli import Bernoulli
from driftfold.participation.cyclic import Cyclic
from driftfold.participation.diurnal import Diurnal
from driftfold.participation.diurnal_sessions import DiurnalSessions
from driftfold.participation.dropout import Dropout
from driftfold.participation.interleaved_sine import InterleavedSine
from driftfold.participation.jump import Jump
from driftfold.participation.label_bernoulli import LabelBernoulli
from driftfold.participation.label_cycle import LabelCycle
from driftfold.participation.label_set_bernoulli import LabelSetBernoulli
from driftfold.participation.lognormal_sine import LognormalSine
from driftfold.participation.markov import Markov
from driftfold.participation.markov_sessions import MarkovSessions
from driftfold.participation.outage import Outage
from driftfold.participation.sessions import Sessions
from driftfold.participation.sine import Sine
from driftfold.participation.size_bernoulli import SizeBernoulli
from driftfold.participation.staircase import Staircase
from driftfold.participation.trace import Trace
from driftfold.participation.uniform import Uniform

__all__ = [
    "Adversarial",
    "Always",
    "Attendance",
    "Bernoulli",
    "Cyclic",
    "Diurnal",
    "DiurnalSessions",
    "Dropout",
    "InterleavedSine",
    "Jump",
    "KnownProbability",
    "KnownSchedule",
    "LabelBernoulli",
    "LabelCycle",
    "LabelSetBernoulli",
    "LognormalSine",
    "Markov",
    "MarkovSessions",
    "Outage",
    "Participation",
    "Sessions",
    "Sine",
    "SizeBernoulli",
    "Staircase",
    "Trace",
    "Uniform",
]

"""Risks: what a client minimises when nobody tells it the classes of its inputs."""

from driftfold.risks.base import Risk, Slope
from driftfold.risks.bbse_source import BbseSource
from driftfold.risks.entropy import Entropy
from driftfold.risks.guarded import GuardedRisk
from driftfold.risks.labelled import Labelled
from driftfold.risks.pseudo_labels import BbsePseudo, PseudoLabels, Truth
from driftfold.risks.scene import Scene

__all__ = [
    "BbsePseudo",
    "BbseSource",
    "Entropy",
    "GuardedRisk",
    "Labelled",
    "PseudoLabels",
    "Risk",
    "Scene",
    "Slope",
    "Truth",
]

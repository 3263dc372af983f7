"""Studies: experiments of a paper beside its published values, and a verdict on each claim."""

from driftfold.studies.base import Arm, Claim, Experiment, Published, Study, published
from driftfold.studies.catalogue import get_study, studies

__all__ = [
    "Arm",
    "Claim",
    "Experiment",
    "Published",
    "Study",
    "get_study",
    "published",
    "studies",
]

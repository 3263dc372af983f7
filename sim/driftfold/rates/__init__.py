"""Rates: how large a client's steps are while it adapts."""

from driftfold.rates.adaptive import Adaptive
from driftfold.rates.base import Meeting, Rate
from driftfold.rates.dog import DoG
from driftfold.rates.fixed import FixedRate
from driftfold.rates.hypergradient import Hypergradient
from driftfold.rates.recorded import Recorded

__all__ = [
    "Adaptive",
    "DoG",
    "FixedRate",
    "Hypergradient",
    "Meeting",
    "Rate",
    "Recorded",
]

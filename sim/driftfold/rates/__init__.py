"""Rates: how large a client's steps are while it adapts."""

from driftfold.rates.adaptive import Adaptive
from driftfold.rates.base import Meeting, Rate
from driftfold.rates.fixed import FixedRate
from driftfold.rates.recorded import Recorded

__all__ = [
    "Adaptive",
    "FixedRate",
    "Meeting",
    "Rate",
    "Recorded",
]

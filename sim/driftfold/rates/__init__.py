"""Rates: how large a client's steps are while it adapts."""

from driftfold.rates.base import Meeting, Rate
from driftfold.rates.fixed import FixedRate

__all__ = [
    "FixedRate",
    "Meeting",
    "Rate",
]

"""Latency: how long transfers and computations take."""

from driftfold.latency.base import Delays, Latency
from driftfold.latency.constant import Constant
from driftfold.latency.lognormal import Lognormal
from driftfold.latency.stragglers import Stragglers

__all__ = ["Constant", "Delays", "Latency", "Lognormal", "Stragglers"]

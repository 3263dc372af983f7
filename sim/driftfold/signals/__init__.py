"""Signals: how much a client's predictions and features moved."""

from driftfold.signals.base import Held, Observed, Signal, Sizes

__all__ = ["Held", "Observed", "Signal", "Sizes"]

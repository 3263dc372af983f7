"""Detectors: whether a client's errors have become more frequent."""

from driftfold.detectors.adwin import Adwin
from driftfold.detectors.base import Alarm, Detector
from driftfold.detectors.ddm import Ddm
from driftfold.detectors.page_hinkley import PageHinkley

__all__ = ["Adwin", "Alarm", "Ddm", "Detector", "PageHinkley"]

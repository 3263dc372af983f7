"""Latency: how long transfers and computations take."""

from driftfold.latency.base import Delays, Latency
from driftfold.latency.constant import Constant
from driftfold.latency.constant_devices import ConstantDevices
from driftfold.latency.constant_links import ConstantLinks
from driftfold.latency.device_mix import DeviceMix
from driftfold.latency.device_types import DeviceType
from driftfold.latency.devices import Devices, Pace
from driftfold.latency.flash_phones import FlashPhones
from driftfold.latency.links import Links, Rates
from driftfold.latency.lognormal import Lognormal
from driftfold.latency.lognormal_devices import LognormalDevices
from driftfold.latency.lognormal_links import LognormalLinks
from driftfold.latency.population import Population
from driftfold.latency.stragglers import Stragglers
from driftfold.latency.trace import Trace

__all__ = [
    "Constant",
    "ConstantDevices",
    "ConstantLinks",
    "Delays",
    "DeviceMix",
    "DeviceType",
    "Devices",
    "FlashPhones",
    "Latency",
    "Links",
    "Lognormal",
    "LognormalDevices",
    "LognormalLinks",
    "Pace",
    "Population",
    "Rates",
    "Stragglers",
    "Trace",
]

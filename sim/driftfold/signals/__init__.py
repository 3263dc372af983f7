"""Signals: how much a client's predictions and features moved."""

from driftfold.signals.base import Held, Observed, Signal, Sizes
from driftfold.signals.calibrated import Calibrated
from driftfold.signals.change_point import ChangePoint
from driftfold.signals.combination import SignalCombination
from driftfold.signals.combined import Combined, said_one_by_one
from driftfold.signals.debiased_representation import DebiasedRepresentation
from driftfold.signals.debiased_uncertainty import DebiasedUncertainty
from driftfold.signals.excess import Excess
from driftfold.signals.feature_distance import FeatureDistance
from driftfold.signals.jump_memory import JumpMemory
from driftfold.signals.kl import Kl
from driftfold.signals.largest import Largest
from driftfold.signals.moving_representation import MovingRepresentation
from driftfold.signals.noise import noise_floor, null_values
from driftfold.signals.noisy_or import NoisyOr
from driftfold.signals.per_step import PerStep
from driftfold.signals.representation import Representation
from driftfold.signals.split_half import SplitHalf
from driftfold.signals.time_gate import TimeGate
from driftfold.signals.total_variation import TotalVariation
from driftfold.signals.uncertainty import Uncertainty
from driftfold.signals.weighted_mean import WeightedMean

__all__ = [
    "Calibrated",
    "ChangePoint",
    "Combined",
    "DebiasedRepresentation",
    "DebiasedUncertainty",
    "Excess",
    "FeatureDistance",
    "Held",
    "JumpMemory",
    "Kl",
    "Largest",
    "MovingRepresentation",
    "NoisyOr",
    "Observed",
    "PerStep",
    "Representation",
    "Signal",
    "SignalCombination",
    "Sizes",
    "SplitHalf",
    "TimeGate",
    "TotalVariation",
    "Uncertainty",
    "WeightedMean",
    "noise_floor",
    "null_values",
    "said_one_by_one",
]

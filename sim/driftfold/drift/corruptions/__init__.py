"""Corruptions: pictures as noise, blur, weather or a coder would spoil them."""

from driftfold.drift.corruptions.base import SEVERITIES, Corruption
from driftfold.drift.corruptions.gaussian_noise import GaussianNoise

__all__ = ["SEVERITIES", "Corruption", "GaussianNoise"]

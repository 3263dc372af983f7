"""Corruptions: pictures as noise, blur, weather or a coder would spoil them."""

from driftfold.drift.corruptions.bank import CLEAN, Bank
from driftfold.drift.corruptions.base import SEVERITIES, Corruption
from driftfold.drift.corruptions.brightness import Brightness
from driftfold.drift.corruptions.contrast import Contrast
from driftfold.drift.corruptions.defocus_blur import DefocusBlur
from driftfold.drift.corruptions.elastic_transform import ElasticTransform
from driftfold.drift.corruptions.enlarged import Enlarged
from driftfold.drift.corruptions.fog import Fog
from driftfold.drift.corruptions.frost import Frost
from driftfold.drift.corruptions.gaussian_blur import GaussianBlur
from driftfold.drift.corruptions.gaussian_noise import GaussianNoise
from driftfold.drift.corruptions.glass_blur import GlassBlur
from driftfold.drift.corruptions.impulse_noise import ImpulseNoise
from driftfold.drift.corruptions.jpeg_compression import JpegCompression
from driftfold.drift.corruptions.motion_blur import MotionBlur
from driftfold.drift.corruptions.pixelate import Pixelate
from driftfold.drift.corruptions.published import PUBLISHED, PUBLISHED_NAMES, published
from driftfold.drift.corruptions.saturate import Saturate
from driftfold.drift.corruptions.shot_noise import ShotNoise
from driftfold.drift.corruptions.snow import Snow
from driftfold.drift.corruptions.speckle_noise import SpeckleNoise
from driftfold.drift.corruptions.translation import Translation
from driftfold.drift.corruptions.zoom_blur import ZoomBlur

__all__ = [
    "CLEAN",
    "PUBLISHED",
    "PUBLISHED_NAMES",
    "SEVERITIES",
    "Bank",
    "Brightness",
    "Contrast",
    "Corruption",
    "DefocusBlur",
    "ElasticTransform",
    "Enlarged",
    "Fog",
    "Frost",
    "GaussianBlur",
    "GaussianNoise",
    "GlassBlur",
    "ImpulseNoise",
    "JpegCompression",
    "MotionBlur",
    "Pixelate",
    "Saturate",
    "ShotNoise",
    "Snow",
    "SpeckleNoise",
    "Translation",
    "ZoomBlur",
    "published",
]

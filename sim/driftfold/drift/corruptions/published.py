"""The 15 corruptions of CIFAR-10-C in the order in which they are always told."""

from typing import Final

from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.brightness import Brightness
from driftfold.drift.corruptions.contrast import Contrast
from driftfold.drift.corruptions.defocus_blur import DefocusBlur
from driftfold.drift.corruptions.elastic_transform import ElasticTransform
from driftfold.drift.corruptions.enlarged import Enlarged
from driftfold.drift.corruptions.fog import Fog
from driftfold.drift.corruptions.frost import Frost
from driftfold.drift.corruptions.gaussian_noise import GaussianNoise
from driftfold.drift.corruptions.glass_blur import GlassBlur
from driftfold.drift.corruptions.impulse_noise import ImpulseNoise
from driftfold.drift.corruptions.jpeg_compression import JpegCompression
from driftfold.drift.corruptions.motion_blur import MotionBlur
from driftfold.drift.corruptions.pixelate import Pixelate
from driftfold.drift.corruptions.shot_noise import ShotNoise
from driftfold.drift.corruptions.snow import Snow
from driftfold.drift.corruptions.zoom_blur import ZoomBlur
from driftfold.registry import kind_of

PUBLISHED: Final[tuple[Corruption, ...]] = (
    GaussianNoise(),
    ShotNoise(),
    ImpulseNoise(),
    DefocusBlur(),
    GlassBlur(),
    MotionBlur(),
    ZoomBlur(),
    Snow(),
    Frost(),
    Fog(),
    Brightness(),
    Contrast(),
    ElasticTransform(),
    Pixelate(),
    JpegCompression(),
)
"""Client c of a stream under a covariate shift has number c mod 15."""

PUBLISHED_NAMES: Final = tuple(kind_of(corruption) for corruption in PUBLISHED)
"""Their kinds, in this order."""


def published(enlarge: int = 1) -> tuple[Corruption, ...]:
    """Return the 15, of pictures enlarged by a factor where it is greater than 1.

    >>> [len(published()), *PUBLISHED_NAMES[:3]]
    [15, 'gaussian_noise', 'shot_noise', 'impulse_noise']
    >>> published(enlarge=4)[9]
    Enlarged(corruption=Fog(), factor=4)
    """
    if enlarge == 1:
        return PUBLISHED
    return tuple(Enlarged(corruption, enlarge) for corruption in PUBLISHED)

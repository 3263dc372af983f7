"""Ice on a window: made textures in place of photographs."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift.corruptions.plasma import plasma
from driftfold.rng import Seed

SIDE = 128
"""Pixels."""


@dataclass(frozen=True)
class Ice:
    """Mean colour and standard deviation of the light of one picture."""

    colour: tuple[float, float, float]
    deviation: float


PANES = (
    Ice((0.30, 0.58, 0.65), 0.06),
    Ice((0.79, 0.81, 0.84), 0.07),
    Ice((0.79, 0.81, 0.84), 0.07),
    Ice((0.54, 0.60, 0.65), 0.08),
    Ice((0.44, 0.48, 0.53), 0.14),
)
"""Measured on the five photographs of CIFAR-10-C, at the size it takes them."""


@cache
def textures() -> Floats:
    """Five pictures of ice, shape (5, 3, SIDE, SIDE): the same in every experiment.

    Ridges of clouds, 1 - |2 p - 1|, on clouds. Mean colour and deviation of the light are those of
    the photographs, and roughness is close: neighbours' light correlates by 0.83 to 0.90, in four
    of the photographs by 0.87 to 0.89. What is missing is crystals.

    >>> ice = textures()
    >>> ice.shape, ice[1].mean(axis=(1, 2)).round(2).tolist()
    ((5, 3, 128, 128), [0.79, 0.81, 0.84])
    """
    stream = Seed(0).stream("frost textures")
    each = np.arange(len(PANES))
    clouds, fine = (
        plasma(stream.uniform(each, visit, SIDE**2 - 1), SIDE, decay)
        for visit, decay in enumerate((1.4, 1.12))
    )
    ice = _standard(clouds) + _standard(1 - np.abs(2 * fine - 1))
    ice = _standard(ice)
    colours = np.array([pane.colour for pane in PANES])[:, :, None, None]
    deviations = np.array([pane.deviation for pane in PANES])[:, None, None, None]
    made = np.clip(colours + deviations * ice[:, None], 0.0, 1.0)
    made.flags.writeable = False
    return made


def _standard(maps: Floats) -> Floats:
    centred = maps - maps.mean(axis=(1, 2), keepdims=True)
    scaled: Floats = centred / centred.std(axis=(1, 2), keepdims=True)
    return scaled

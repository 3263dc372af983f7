"""Every registered corruption keeps its contract, and the check catches those that do not."""

from dataclasses import dataclass

import numpy as np
import pytest

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions import (
    PUBLISHED,
    Corruption,
    Enlarged,
    Fog,
    GaussianBlur,
    MotionBlur,
    Saturate,
    SpeckleNoise,
    Translation,
)
from driftfold.registry import kind_of, kinds, register
from driftfold.rng import Seed
from driftfold.testing import check_corruption

EXAMPLES = (
    *PUBLISHED,
    SpeckleNoise(),
    GaussianBlur(),
    Translation(),
    Enlarged(MotionBlur(), 3),
)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("corruption", EXAMPLES, ids=kind_of)
def test_contract(corruption: Corruption, channels: int) -> None:
    check_corruption(corruption, channels)


def test_contract_of_colours_and_of_the_smallest_pictures() -> None:
    check_corruption(Saturate())
    for corruption in (Fog(), MotionBlur(), *PUBLISHED[6:8], *PUBLISHED[12:]):
        check_corruption(corruption, channels=1, side=8)


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind for kind, cls in kinds("corruption").items() if cls.__module__.startswith("driftfold.")
    }
    assert shipped == {"saturate", *(kind_of(corruption) for corruption in EXAMPLES)}


@register("test_drawn_by_position")
@dataclass(frozen=True)
class DrawnByPosition(Corruption):
    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        noise = seed.stream("noise").normal(np.arange(len(rows)), 0, planes[0].size)
        return planes + noise.reshape(planes.shape)


@register("test_of_the_whole_batch")
@dataclass(frozen=True)
class OfTheWholeBatch(Corruption):
    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        mean: Floats = planes.mean(axis=0, keepdims=True)
        return 0.5 * planes + 0.5 * mean


@register("test_idle_at_one")
@dataclass(frozen=True)
class IdleAtOne(Corruption):
    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        return planes * (1 - 0.1 * (severity - 1))


@pytest.mark.parametrize(
    ("corruption", "complaint"),
    [
        (DrawnByPosition(), "draw by row only"),
        (OfTheWholeBatch(), "order or company"),
        (IdleAtOne(), "nothing changed at severity 1"),
    ],
)
def test_broken_ones_are_caught(corruption: Corruption, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_corruption(corruption)

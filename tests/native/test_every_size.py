"""Each kernel, of each size it is compiled for, in each variant that this processor runs.

Compilers treat each of them apart: one option once gave wrong polar factors of four rows, and right
ones of all others.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from driftfold.compute import fused
from driftfold.data.gaussian_blocks import GaussianBlocks
from driftfold.data.synthetic_spd import SyntheticSpd
from driftfold.data.wrapped_normal import WrappedNormal
from driftfold.manifolds.lorentz import Lorentz
from driftfold.manifolds.spd import Spd
from driftfold.manifolds.sphere import Sphere
from driftfold.manifolds.stiefel import Stiefel
from driftfold.native import Library, building, library
from driftfold.rng import Seed
from driftfold.tasks.base import Problem
from driftfold.tasks.hyperbolic_frechet_mean import HyperbolicFrechetMean
from driftfold.tasks.pca import Pca
from driftfold.tasks.spd_frechet_mean import SpdFrechetMean
from tests.native.stacks import agree

FOUND = library()
LEVELS = building.levels()
MADE = LEVELS[: LEVELS.index(FOUND.level) + 1] if isinstance(FOUND, Library) else []
WAYS = [
    (d, b, p) for d in ("stream", "endpoint") for b in ("full", 3) for p in ("float64", "float32")
]


def pca(r: int, way: Any, precision: Any, more: int = 17) -> Problem:
    d, samples = r + more, 12 if more < 100 else 5
    data = GaussianBlocks(clients=2, samples=samples, dimension=d)
    manifold = Stiefel(r, d, retraction=way)
    return Pca(data=data, rank=r, manifold=manifold, precision=precision).build(Seed(1))


def eigenvector(d: int, way: Any, precision: Any) -> Problem:
    data, manifold = GaussianBlocks(clients=2, samples=7, dimension=d), Sphere(d, transport_by=way)
    return Pca(data=data, rank=1, manifold=manifold, precision=precision).build(Seed(1))


def spd(n: int, way: Any, precision: Any) -> Problem:
    data = SyntheticSpd(clients=2, samples=9, size=n, freedom=2 * n + 2)
    manifold = Spd(n, transport_by=way)
    return SpdFrechetMean(data=data, manifold=manifold, precision=precision).build(Seed(1))


def hyperbolic(dim: int, way: Any, precision: Any) -> Problem:
    data, manifold = WrappedNormal(2, 19, dim), Lorentz(dim, transport_by=way)
    return HyperbolicFrechetMean(data=data, manifold=manifold, precision=precision).build(Seed(1))


def tall(r: int, way: Any, precision: Any) -> Problem:
    return pca(r, way, precision, more=300)


CASES = [
    *((pca, r, way) for r in range(1, 9) for way in ("qr", "polar")),
    *((tall, r, way) for r in range(1, 9) for way in ("qr", "polar")),
    *((eigenvector, d, way) for d in (2, 9, 33) for way in ("parallel", "projection")),
    *((spd, n, way) for n in range(2, 17) for way in ("parallel", "path")),
    *((hyperbolic, dim, way) for dim in range(2, 11) for way in ("parallel", "projection")),
]


@pytest.mark.parametrize("level", MADE)
@pytest.mark.parametrize(
    ("make", "size", "way"), CASES, ids=[f"{m.__name__}-{size}-{way}" for m, size, way in CASES]
)
def test_every_size(
    make: Callable[[int, Any, Any], Problem],
    size: int,
    way: str,
    level: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert isinstance(FOUND, Library)
    variant = replace(FOUND, level=level)
    monkeypatch.setattr(fused, "library", lambda: variant)
    for descent, batch, precision in WAYS:
        agree(make(size, way, precision), descent, batch, 3, False, precision)

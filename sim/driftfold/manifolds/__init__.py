"""Manifolds on which parameters may live: batched maps, points and tangent vectors as arrays."""

from driftfold.manifolds.base import (
    Exponential,
    Framed,
    Geodesic,
    GradientStream,
    InvertibleRetraction,
    Manifold,
    NearestPoint,
)
from driftfold.manifolds.euclidean import Euclidean
from driftfold.manifolds.geoopt_adapter import (
    GeooptManifold,
    GeooptPoincare,
    GeooptSpd,
    GeooptSphere,
    GeooptStiefel,
)
from driftfold.manifolds.grassmann import Grassmann
from driftfold.manifolds.lorentz import Lorentz
from driftfold.manifolds.poincare import Poincare
from driftfold.manifolds.power import Power
from driftfold.manifolds.product import Product
from driftfold.manifolds.spd import Spd
from driftfold.manifolds.sphere import Sphere
from driftfold.manifolds.stiefel import Stiefel

__all__ = [
    "Euclidean",
    "Exponential",
    "Framed",
    "Geodesic",
    "GeooptManifold",
    "GeooptPoincare",
    "GeooptSpd",
    "GeooptSphere",
    "GeooptStiefel",
    "GradientStream",
    "Grassmann",
    "InvertibleRetraction",
    "Lorentz",
    "Manifold",
    "NearestPoint",
    "Poincare",
    "Power",
    "Product",
    "Spd",
    "Sphere",
    "Stiefel",
]

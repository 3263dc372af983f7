"""Conformance of a manifold kind."""

from collections.abc import Callable

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.manifolds.base import (
    Exponential,
    Framed,
    Geodesic,
    InvertibleRetraction,
    Manifold,
    NearestPoint,
)
from driftfold.rng import Seed
from driftfold.testing.expect import expect

_Map = Callable[..., Array]

_COUNT = 80
_STEPS = np.array([1e-2, 1e-3])
_REPEATS, _NORMAL = 20, 8.0  # rounding errors of 1e-16 that grow do so beyond 1e-4
_LOST = 1e-4  # of a step of 1e-8: what rounding a point of size 1 or its condition 1e3 costs
_HARD = (0.0, 1e-200, 1e-9, 1e9, 1e200)  # squares of the outer ones are no numbers
_SINGLE = 1e-3  # float32 has an eps of 1.2e-7, and random points conditions of 1e3 or so


def check_manifold(manifold: Manifold, seed: int = 0, tolerance: float = 1e-10) -> None:
    """Raise `AssertionError` unless `manifold` keeps the contract of `Manifold`.

    Checked on 80 random points, for what the manifold's type claims: shapes; arguments left alone;
    points on the manifold and vectors in the tangent space; projections, retractions of first
    order, gradient streams; frames: linear, isometric and invertible; that rounding errors do not
    grow from step to step; transports: linear, isometric and parallel where they claim to be;
    inverses; nearest points, also to 0 and to very small and large arrays; that exponential and
    logarithm undo each other, also for steps of 1e-8, and agree with `dist`; that single precision
    is kept; and that no item's bits depend on the batch it is computed in. `tolerance` is absolute,
    for tangent vectors of length 0.1.

    Points are those that `random_point` draws, and steps from them: nothing is looked at elsewhere,
    such as far from where it draws or near a border.

    >>> from driftfold.manifolds import Sphere
    >>> check_manifold(Sphere(4))
    """
    stream = Seed(seed).stream("check_manifold")
    x = manifold.random_point(stream, np.arange(_COUNT))
    expect(
        x.shape == (_COUNT, *manifold.shape),
        f"random_point gave {x.shape} for {_COUNT} ids; wanted {(_COUNT, *manifold.shape)}",
    )
    ambient = stream.normal(np.arange(_COUNT), 1, int(np.prod(manifold.shape))).reshape(x.shape)
    u = of_length(manifold, x, manifold.project(x, ambient), 0.1)
    v = of_length(manifold, x, manifold.project(x, np.roll(ambient, 1, axis=0)), 0.1)
    y = manifold.retract(x, v)
    w = manifold.project(y, u)
    _Check(manifold, tolerance, x, y, u, v, w, ambient).run()
    _check_company(
        "random_point", _COUNT, lambda rows: manifold.random_point(stream, np.arange(_COUNT)[rows])
    )


class _Check:
    """The checks on points x and y = R_x(v), tangent u and v at x, tangent w at y."""

    def __init__(
        self,
        manifold: Manifold,
        tolerance: float,
        x: Array,
        y: Array,
        u: Array,
        v: Array,
        w: Array,
        ambient: Array,
    ) -> None:
        self.manifold, self.tolerance = manifold, tolerance
        self.x, self.y, self.u, self.v, self.w, self.ambient = x, y, u, v, w, ambient

    def run(self) -> None:
        self.linear_algebra()
        self.first_order("retract", self.manifold.retract)
        self.transport()
        self.gradient_stream()
        self.rounding()
        if isinstance(self.manifold, InvertibleRetraction):
            self.inverse("inverse_retract", self.manifold.retract, self.manifold.inverse_retract)
        if isinstance(self.manifold, NearestPoint):
            self.nearest(self.manifold)
        if isinstance(self.manifold, Framed):
            self.frame(self.manifold)
        if isinstance(self.manifold, Exponential):
            self.first_order("exp", self.manifold.exp)
        if isinstance(self.manifold, Geodesic):
            self.inverse("log", self.manifold.exp, self.manifold.log)
            self.distance(self.manifold)
            self.geodesic_transport(self.manifold)
        self.precision()
        self.company()
        self.broadcasting()

    def linear_algebra(self) -> None:
        m, x, u, v = self.manifold, self.x, self.u, self.v
        self.small("off_point of a random point", m.off_point(x))
        self.small("off_tangent of a projection", m.off_tangent(x, u))
        self.small("off_tangent of a gradient", m.off_tangent(x, m.gradient(x, self.ambient)))
        self.equal("project twice", m.project(x, u), u)
        self.equal("inner is symmetric", m.inner(x, u, v), m.inner(x, v, u))
        self.equal(
            "inner is linear", m.inner(x, 2 * u + v, v), 2 * m.inner(x, u, v) + m.inner(x, v, v)
        )
        self.equal("norm is the root of inner", m.norm(x, u) ** 2, m.inner(x, u, u))
        # <grad f, u> = Df[u]: the gradient represents the Euclidean one on tangent vectors.
        axes = tuple(range(1, x.ndim))
        slope = (self.ambient * m.displacement(x, u)).sum(axes)
        self.equal("gradient represents g", m.inner(x, m.gradient(x, self.ambient), u), slope)

    def first_order(self, name: str, move: Callable[[Array, Array], Array]) -> None:
        m, x, u = self.manifold, self.x, self.u
        along = m.displacement(x, u)
        self.equal(f"{name} of 0", move(x, 0 * u), x)
        self.small(f"off_point after {name}", self.manifold.off_point(move(x, u)))
        errors = np.array([np.abs(move(x, h * u) - x - h * along).max() for h in _STEPS])
        # A map of first order errs by h^2; 1.9 leaves room for the h^3 of the larger step.
        slope = np.log(errors[0] / errors[1]) / np.log(_STEPS[0] / _STEPS[1]) if errors[1] else 2.0
        expect(
            errors[1] < 1e-14 or slope > 1.9,
            f"{name} is not of first order: |{name}(x, h u) - x - h u'| falls as h^{slope:.2f}, "
            "u' the displacement along u; wanted h^2",
        )

    def transport(self) -> None:
        m, x, y, u, v = self.manifold, self.x, self.y, self.u, self.v
        self.equal("transport to the same point", m.transport(x, x, u), u)
        self.small("off_tangent after transport", m.off_tangent(y, m.transport(x, y, u)))
        combined = m.transport(x, y, 2 * u - 3 * v)
        self.equal(
            "transport is linear", combined, 2 * m.transport(x, y, u) - 3 * m.transport(x, y, v)
        )
        if m.isometric:
            carried = m.inner(y, m.transport(x, y, u), m.transport(x, y, v))
            self.equal("transport is isometric", carried, m.inner(x, u, v))
            there = m.transport(x, y, u)
            self.equal("norm after transport", m.norm(y, there), m.norm(x, u))

    def gradient_stream(self) -> None:
        m, x, y, u, v, w = self.manifold, self.x, self.y, self.u, self.v, self.w
        stream = m.gradient_stream(x)
        for point, vector in ((x, u), (x, v), (y, w), (y, -2 * w)):
            stream.add(point, vector)
        self.equal("gradient stream", stream.total(), u + v - m.transport(y, x, w))

    def rounding(self) -> None:
        # A gradient with a large part normal to the manifold, down and up: where a projection at a
        # point that is off by e leaves e times it, and a step adds that to e, e grows each time.
        m = self.manifold
        for factor in (_NORMAL, -_NORMAL):
            x = self.x
            for _ in range(_REPEATS):
                u = m.gradient(x, factor * x)
                longest = np.maximum(m.norm(x, u), 0.1).reshape(-1, *(1,) * len(m.shape))
                x = m.retract(x, 0.1 / longest * u)
            self.small(f"off_point after {_REPEATS} steps", m.off_point(x))

    def inverse(
        self,
        name: str,
        move: Callable[[Array, Array], Array],
        back: Callable[[Array, Array], Array],
    ) -> None:
        x, u = self.x, self.u
        there = move(x, u)
        self.equal(f"{name} undoes the map", back(x, there), u)
        self.small(f"off_tangent of {name}", self.manifold.off_tangent(x, back(x, there)))
        self.equal(f"{name} of the point itself", back(x, x), 0 * u)
        self.equal(
            f"the map undoes {name}",
            self.manifold.embed(move(x, back(x, self.y))),
            self.manifold.embed(self.y),
        )
        tiny = 1e-7 * u
        lost = self.manifold.norm(x, back(x, move(x, tiny)) - tiny).max() / 1e-8
        expect(
            lost < _LOST,
            f"{name} of a step of 1e-8 is off by {lost:.3g} of it, allowed {_LOST}; "
            "take differences of points before anything else",
        )

    def nearest(self, m: NearestPoint) -> None:
        x, y = self.x, self.ambient
        point = m.nearest(y)
        self.small("off_point of the nearest point", m.off_point(point))
        self.equal("nearest of a point of the manifold", m.nearest(x), x)
        self.equal("nearest twice", m.nearest(point), point)
        # The way there is normal to the manifold, and no shorter one leads to the other points.
        self.equal("way to the nearest point", m.project(point, y - point), 0 * y)
        lengths = [np.sqrt(((y - to) ** 2).sum(tuple(range(1, y.ndim)))) for to in (point, x)]
        expect(
            bool((lengths[0] <= lengths[1] + self.tolerance).all()),
            f"nearest gave points {lengths[0]} away; there are some {lengths[1]} away",
        )
        for size in _HARD:
            self.small(
                f"off_point of the nearest point to {size} y", m.off_point(m.nearest(size * y))
            )

    def frame(self, m: Framed) -> None:
        x, u, v = self.x, self.u, self.v
        c, d = m.coordinates(x, u), m.coordinates(x, v)
        expect(
            c.shape == (_COUNT, m.dimension),
            f"coordinates gave shape {c.shape}; wanted {(_COUNT, m.dimension)}, by `dimension`",
        )
        self.equal("coordinates are isometric", (c * d).sum(-1), m.inner(x, u, v))
        self.equal("coordinates are linear", m.coordinates(x, 2 * u - 3 * v), 2 * c - 3 * d)
        self.equal("vector of the coordinates", m.from_coordinates(x, c), u)
        any_ = np.resize(self.ambient.reshape(_COUNT, -1), c.shape)
        vector = m.from_coordinates(x, any_)
        self.small("off_tangent of a vector of coordinates", m.off_tangent(x, vector))
        self.equal("coordinates of the vector", m.coordinates(x, vector), any_)

    def distance(self, m: Geodesic) -> None:
        x, y, u = self.x, self.y, self.u
        self.equal("dist to exp is the length", m.dist(x, m.exp(x, u)), m.norm(x, u))
        self.equal("dist is symmetric", m.dist(x, y), m.dist(y, x))
        self.equal("dist to the point itself", m.dist(x, x), 0 * m.dist(x, x))
        self.equal("length of log", m.norm(x, m.log(x, y)), m.dist(x, y))
        off = float(abs(m.dist(x, m.exp(x, 1e-7 * u)) - 1e-7 * m.norm(x, u)).max()) / 1e-8
        expect(off < _LOST, f"dist of points 1e-8 apart is off by {off:.3g} of it, allowed {_LOST}")

    def geodesic_transport(self, m: Geodesic) -> None:
        if not m.parallel:
            return
        x, y, u = self.x, self.y, self.u
        self.equal(
            "transport carries the geodesic's velocity on",
            m.transport(x, y, m.log(x, y)),
            -m.log(y, x),
        )
        self.equal("transport there and back", m.transport(y, x, m.transport(x, y, u)), u)

    def precision(self) -> None:
        for name, function, arguments in _maps(self.manifold, self.x, self.y, self.u, self.v):
            got = function(*(argument.astype(np.float32) for argument in arguments))
            wanted = function(*arguments)
            expect(
                got.dtype == np.float32,
                f"{name} of float32 arrays gave {got.dtype}; keep the precision of the arguments",
            )
            off = float(np.max(np.abs(got - wanted) / (1 + np.abs(wanted)), initial=0.0))
            expect(
                off < _SINGLE,
                f"{name} in float32: relative error {off:.3g}, allowed {_SINGLE}",
            )

    def company(self) -> None:
        for name, function, arguments in _maps(self.manifold, self.x, self.y, self.u, self.v):
            kept = [argument.copy() for argument in arguments]

            def compute(
                rows: slice, f: _Map = function, those: tuple[Array, ...] = arguments
            ) -> Array:
                return f(*(argument[rows] for argument in those))

            _check_company(name, _COUNT, compute)
            expect(
                all(np.array_equal(a, k) for a, k in zip(arguments, kept, strict=True)),
                f"{name} changed its arguments; work on copies",
            )

    def broadcasting(self) -> None:
        m, x = self.manifold, self.x[3]
        spread = np.broadcast_to(x, self.x.shape)
        u, v = m.project(spread, self.u), m.project(spread, self.v)
        y = m.retract(spread, v)
        many = _maps(m, spread, y, u, v)
        for (name, function, one), (_, _, all_) in zip(_maps(m, x, y, u, v), many, strict=True):
            if len(one) > 1:
                self.equal(f"{name} of one x and many others", function(*one), function(*all_))

    def small(self, what: str, errors: Array) -> None:
        expect(
            errors.shape == (_COUNT,),
            f"{what} has shape {errors.shape}; wanted one number a point, {(_COUNT,)}",
        )
        self.equal(what, errors, np.zeros(_COUNT))

    def equal(self, what: str, got: Array, wanted: Array) -> None:
        expect(got.shape == wanted.shape, f"{what}: got shape {got.shape}, wanted {wanted.shape}")
        off = float(np.abs(got - wanted).max(initial=0.0))
        expect(off <= self.tolerance, f"{what}: off by {off:.3g}, allowed {self.tolerance:.3g}")


def _maps(
    m: Manifold, x: Array, y: Array, u: Array, v: Array
) -> list[tuple[str, _Map, tuple[Array, ...]]]:
    maps: list[tuple[str, _Map, tuple[Array, ...]]] = [
        ("inner", m.inner, (x, u, v)),
        ("project", m.project, (x, y - 2 * u)),
        ("gradient", m.gradient, (x, y - 2 * u)),
        ("displacement", m.displacement, (x, u)),
        ("embed", m.embed, (x,)),
        ("retract", m.retract, (x, u)),
        ("transport", m.transport, (x, y, u)),
    ]
    if isinstance(m, InvertibleRetraction):
        maps.append(("inverse_retract", m.inverse_retract, (x, y)))
    if isinstance(m, NearestPoint):
        maps.append(("nearest", m.nearest, (y - 2 * u,)))
    if isinstance(m, Framed):
        c = m.coordinates(x, u)
        maps += [
            ("coordinates", m.coordinates, (x, u)),
            ("from_coordinates", m.from_coordinates, (x, c)),
        ]
    if isinstance(m, Exponential):
        maps.append(("exp", m.exp, (x, u)))
    if isinstance(m, Geodesic):
        maps += [("log", m.log, (x, y)), ("dist", m.dist, (x, y))]
    return maps


def of_length(manifold: Manifold, x: Array, u: Array, length: float) -> Array:
    """Scale tangent vectors u at x; zeros, all there are on a manifold of isolated points, stay.

    >>> from driftfold.manifolds import Stiefel
    >>> of_length(Stiefel(1, 1), np.ones((2, 1, 1)), np.zeros((2, 1, 1)), 0.1).ravel().tolist()
    [0.0, 0.0]
    """
    norm: Floats = manifold.norm(x, u)
    return u * (length / np.where(norm > 0, norm, 1.0)).reshape(-1, *(1,) * len(manifold.shape))


def _check_company(name: str, count: int, compute: Callable[[slice], Array]) -> None:
    whole = compute(slice(None))
    for size in (1, 7, 37, 64):
        for start in (0, 3, count - size):
            rows = slice(start, start + size)
            expect(
                compute(rows).tobytes() == whole[rows].tobytes(),
                f"{name}: items {start} to {start + size - 1} differ in their last bits from the "
                f"same items in a batch of {count}; use per-item products and padded functions",
            )

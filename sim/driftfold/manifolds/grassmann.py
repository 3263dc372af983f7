"""The Grassmann manifold of r-dimensional subspaces of R^d, by orthonormal bases stored as rows."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from driftfold.arrays import Array, array_namespace
from driftfold.errors import SpecError
from driftfold.manifolds import grassmann_turns, orthonormal, principal_angles
from driftfold.manifolds.aligned_stream import AlignedStream
from driftfold.manifolds.base import Framed, Geodesic, GradientStream, InvertibleRetraction
from driftfold.manifolds.block_reflection import block_reflection
from driftfold.manifolds.projected_stream import ProjectedStream
from driftfold.manifolds.small_matrices import qr, solve
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


@register("grassmann")
@dataclass(frozen=True)
class Grassmann(Geodesic, InvertibleRetraction, Framed):
    """Gr(r, d): subspaces of dimension r of R^d, each stored as r orthonormal ROWS, shape (r, d).

    Any orthonormal basis x stands for its subspace, and Q x (Q orthogonal) for the same one. A
    tangent vector at the basis x is its horizontal lift, u x^T = 0, in the trace metric; at Q x
    the same vector is Q u (Edelman, Arias, Smith 1998, section 2.5). Transports return the lift at
    the basis they are given.

    Attributes
    ----------
    r
        Dimension of the subspaces, at least 1.
    d
        Dimension of the space, more than r.
    retraction
        "cayley" (Zhu, Sato 2021), "qr" and "polar" of x + u, which span the same subspace, "exp":
        the geodesic. "cayley", "polar" and "exp" return the basis that is aligned with x.
    transport_by
        "cayley": the isometric transport of the Cayley retraction; "parallel": along the shortest
        geodesic, which is the same map in the aligned gauge; "projection": onto the target.
    gauge
        "aligned": bases are first turned to be as close as they can be, so that results do not
        depend on which basis stands for a subspace. "paper": the formulas of "cayley" and
        "projection" as they are published, which presume bases that are aligned already. Bases two
        or more steps apart are not: typical errors (r=3, d=10) after two steps of length 1 are
        12 % of the direction and, for "cayley", 2 % off the tangent space; 3e-4 and 3e-6 after two
        steps of length 0.05.

    Raises
    ------
    SpecError
        r or d are not such numbers; or retraction "qr", transport "cayley" and gauge "paper" meet.

    Examples
    --------
    >>> import numpy as np
    >>> plane, other = np.eye(2, 4), np.eye(2, 4)[::-1]
    >>> grassmann = Grassmann(2, 4)
    >>> float(grassmann.dist(plane, other))
    0.0
    """

    r: Annotated[int, Ge(1)]
    d: Annotated[int, Ge(2)]
    retraction: Literal["cayley", "qr", "polar", "exp"] = "cayley"
    transport_by: Literal["cayley", "parallel", "projection"] = "cayley"
    gauge: Literal["aligned", "paper"] = "aligned"

    def __post_init__(self) -> None:
        if not 1 <= self.r < self.d:
            raise SpecError(
                f"subspaces of dimension r of R^d need 1 <= r < d, got r={self.r}, d={self.d}; "
                "lower r or raise d"
            )
        if (self.retraction, self.transport_by, self.gauge) == ("qr", "cayley", "paper"):
            raise SpecError(
                "the published Cayley transport presumes a basis aligned with the last one, which "
                "retraction 'qr' does not return; choose another retraction, or gauge 'aligned'"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """(r, d)."""
        return self.r, self.d

    @property
    def parallel(self) -> bool:
        """Whether `transport` is parallel transport: all but projections and the paper's gauge."""
        return self.transport_by == "parallel" or (
            self.transport_by == "cayley" and self.gauge == "aligned"
        )

    @property
    def isometric(self) -> bool:
        """Whether `transport` keeps inner products: all but projections."""
        return self.transport_by != "projection"

    def embed(self, x: Array) -> Array:
        """Orthogonal projector x^T x onto the subspace, shape (..., d, d)."""
        return x.mT @ x

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Trace metric, the sum of u * v: T_x M x T_x M -> R."""
        return array_namespace(u, v).sum(u * v, axis=(-2, -1))

    def project(self, x: Array, v: Array) -> Array:
        """Return v - (v x^T) x: R^(r x d) -> T_x M."""
        along = v @ x.mT
        along *= -1
        horizontal = along @ x
        horizontal += v
        return horizontal

    def gradient(self, x: Array, g: Array) -> Array:
        """Projection of the Euclidean gradient g: R^(r x d) -> T_x M."""
        return self.project(x, g)

    def retract(self, x: Array, u: Array) -> Array:
        """Basis of the end of the step u, by `retraction`: T_x M -> M."""
        match self.retraction:
            case "cayley":
                return grassmann_turns.cayley(x, u)
            case "exp":
                return grassmann_turns.exp(x, u)
            case "qr":
                return orthonormal.qr_factor(x + u)
            case "polar":
                return orthonormal.polar_factor(x + u)

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Vector u with retract(x, u) in the subspace of y: M -> T_x M.

        "qr" and "polar": Y (X^T Y)^-1 - X, NaN where an angle between the two is pi/2, which they
        cannot reach. "cayley": 2 (Y - X C) (I + C)^-1, C = X^T Y, for the aligned Y, or in the
        paper's gauge for y as it is.
        """
        if self.retraction == "exp":
            return principal_angles.log(x, y)
        if self.retraction == "cayley" and self.gauge == "aligned":
            return principal_angles.inverse_cayley(x, y)
        if self.retraction == "cayley":
            return _published_inverse(x, y)
        m = y @ x.mT
        return solve(m, _eye(m) + 0 * m) @ self.project(x, y - x)

    def exp(self, x: Array, u: Array) -> Array:
        """Basis of the end of the geodesic along u, the one aligned with x: T_x M -> M."""
        return grassmann_turns.exp(x, u)

    def log(self, x: Array, y: Array) -> Array:
        """Inverse of exp, of length dist(x, y): M -> T_x M; one of several at angles of pi/2."""
        return principal_angles.log(x, y)

    def dist(self, x: Array, y: Array) -> Array:
        """Root of the sum of squared principal angles, shape (...)."""
        return principal_angles.dist(x, y)

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Carry u from T_x M to T_y M, by `transport_by` and `gauge`."""
        if self.transport_by == "parallel":
            return principal_angles.turn(x, y, u)
        if self.transport_by == "cayley":
            turn = principal_angles.turn if self.gauge == "aligned" else _published_transport
            return turn(x, y, u)
        if self.gauge == "aligned":
            u = principal_angles.aligned(x, y, u)
        return self.project(y, u)

    def gradient_stream(self, origin: Array) -> GradientStream:
        """Empty sum; where the transport is the projection it projects only once."""
        if self.transport_by != "projection":
            return super().gradient_stream(origin)
        stream = AlignedStream if self.gauge == "aligned" else ProjectedStream
        return stream(self, origin)

    @property
    def dimension(self) -> int:
        """The product r (d - r)."""
        return self.r * (self.d - self.r)

    def coordinates(self, x: Array, u: Array) -> Array:
        """Columns after the first r, once a block reflection has turned x onto the first r axes."""
        return _rows_joined(block_reflection(x).complement(u))

    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Inverse of `coordinates`: R^dim -> T_x M."""
        return block_reflection(x).embedded(c.reshape(*c.shape[:-1], self.r, self.d - self.r))

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Subspaces uniform on the manifold (QR of Gaussian matrices), shape (len(ids), r, d)."""
        gaussian = stream.normal(ids, 0, self.r * self.d)
        return qr(gaussian.reshape(*gaussian.shape[:-1], self.r, self.d).mT)[0].mT.copy()

    def off_point(self, x: Array) -> Array:
        """Frobenius norm of x x^T - I, shape (...)."""
        xp = array_namespace(x)
        return _frobenius(x @ x.mT - xp.eye(self.r, dtype=x.dtype, device=x.device))

    def off_tangent(self, x: Array, u: Array) -> Array:
        """Frobenius norm of u x^T, shape (...)."""
        return _frobenius(u @ x.mT)


def _published_inverse(x: Array, y: Array) -> Array:
    """2 (Y - X C) (I + C)^-1 with C = X^T Y as it is."""
    c = x @ y.mT
    return solve(_eye(c) + c.mT, 2 * _eye(c) + 0 * c) @ (y - c.mT @ x)


def _published_transport(x: Array, y: Array, u: Array) -> Array:
    """U - (X + V/2) (I + V^T V / 4)^-1 V^T U with V the inverse Cayley retraction of y as it is."""
    v = _published_inverse(x, y)
    gram = v @ v.mT
    along = solve(_eye(gram) + 0.25 * gram, v @ u.mT).mT
    return u - along @ (x + 0.5 * v)


def _rows_joined(b: Array) -> Array:
    return b.reshape(*b.shape[:-2], b.shape[-2] * b.shape[-1])


def _frobenius(a: Array) -> Array:
    return array_namespace(a).sum(a * a, axis=(-2, -1)) ** 0.5


def _eye(a: Array) -> Array:
    return array_namespace(a).eye(a.shape[-1], dtype=a.dtype, device=a.device)

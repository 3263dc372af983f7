"""Packages that compute parts of an experiment, beside those that every experiment needs."""

from typing import Any, ClassVar, Protocol, runtime_checkable

from driftfold.spec.parts import parts


@runtime_checkable
class Borrowing(Protocol):
    """Capability of a component: other packages do its mathematics."""

    packages: ClassVar[tuple[str, ...]]
    """Names of the distributions whose versions its numbers depend on."""


def packages_of(spec: Any) -> tuple[str, ...]:
    """Return the distributions that a specification's components borrow from, sorted.

    >>> from driftfold.manifolds import GeooptSphere, Sphere
    >>> packages_of([GeooptSphere(4), Sphere(4)])
    ('geoopt', 'torch')
    """
    owners = (owner for _, owner in parts(spec) if isinstance(owner, Borrowing))
    return tuple(sorted({name for owner in owners for name in owner.packages}))

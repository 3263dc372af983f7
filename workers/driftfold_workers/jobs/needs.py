"""Needs: which kinds a specification calls for, and which kinds a worker has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass

from driftfold.registry import families, family_of, kind_of, kinds, lookup
from driftfold.spec import JobSpec, load_builtins
from driftfold.spec.packages import Borrowing


def needs_of(spec: JobSpec) -> tuple[str, ...]:
    """Return every kind in the specification, at any depth, as "family:kind", sorted.

    >>> from driftfold.spec import load_spec
    >>> needs_of(load_spec("pca-synthetic"))[:3]
    ('algorithm:rfedags', 'cadence:synchronous', 'combination:weighted_sum')
    """
    return tuple(sorted(set(_kinds_in(spec))))


def kinds_here() -> tuple[str, ...]:
    """Return every kind that this process knows, loaded plug-ins included, sorted.

    >>> "task:pca" in kinds_here()
    True
    """
    load_builtins()
    return tuple(sorted(f"{family}:{kind}" for family in families() for kind in kinds(family)))


def computes_with_torch(needs: Iterable[str]) -> bool:
    """Return whether one of these kinds says that it computes with torch.

    >>> computes_with_torch(["task:pca"]), computes_with_torch(["manifold:geoopt_sphere"])
    (False, True)
    """
    return any("torch" in _packages(need) for need in needs)


def _packages(need: str) -> Sequence[str]:
    family, _, kind = need.partition(":")
    component = lookup(family, kind)
    return component.packages if isinstance(component, Borrowing) else ()


def _kinds_in(value: object) -> Iterator[str]:
    if is_dataclass(value):
        if family_of(value) is not None:
            yield f"{family_of(value)}:{kind_of(value)}"
        for field in fields(value):
            yield from _kinds_in(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _kinds_in(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _kinds_in(entry)

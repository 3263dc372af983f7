"""Needs: which kinds a specification calls for, and which kinds a worker has."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from driftfold.registry import families, family_of, kind_of, kinds
from driftfold.spec import JobSpec, load_builtins


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

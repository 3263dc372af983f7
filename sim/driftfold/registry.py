"""Kinds: the names by which a specification calls for a component.

A *family* is an abstract base class (`Participation`, `Task`, ...), a *kind* one final dataclass
of it. ``{kind = "bernoulli", low = 0.1}`` in a specification becomes ``Bernoulli(low=0.1)``.

>>> from dataclasses import dataclass
>>> @family("greeting")
... class Greeting: ...
>>> @register("plain")
... @dataclass(frozen=True)
... class Plain(Greeting):
...     word: str = "hello"
>>> lookup("greeting", "plain")().word
'hello'
>>> lookup("greeting", "plane")
Traceback (most recent call last):
driftfold.errors.UnknownKind: unknown greeting kind 'plane'; did you mean 'plain'? known: plain
"""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

from driftfold.errors import SpecError, UnknownKind

C = TypeVar("C", bound=type[Any])

_families: dict[str, type[Any]] = {}
_kinds: dict[str, dict[str, type[Any]]] = {}


def family(name: str) -> Callable[[C], C]:
    """Declare the decorated abstract class as the family `name`."""

    def declare(base: C) -> C:
        base.__family__ = name
        _families[name] = base
        _kinds.setdefault(name, {})
        return base

    return declare


def register(kind: str) -> Callable[[C], C]:
    """Register the decorated class under `kind` in the family of its base class.

    Raises `SpecError` when it belongs to no family or the kind is taken by another class.
    """

    def add(component: C) -> C:
        name = family_of(component)
        if name is None:
            raise SpecError(
                f"cannot register {component.__name__} as {kind!r}: it derives from no family; "
                f"derive it from one of {', '.join(b.__name__ for b in _families.values())}"
            )
        taken = _kinds[name].get(kind)
        if taken is not None and (taken.__module__, taken.__qualname__) != (
            component.__module__,
            component.__qualname__,
        ):
            raise SpecError(
                f"{name} kind {kind!r} is already {taken.__module__}.{taken.__qualname__}; "
                "choose another name"
            )
        component.__kind__ = kind
        _kinds[name][kind] = component
        return component

    return add


def family_of(component: object) -> str | None:
    """Name of the family a class belongs to, or None."""
    name: str | None = getattr(component, "__family__", None)
    return name


def kind_of(component: object) -> str:
    """Kind under which a component (or its class) was registered."""
    kind: str | None = getattr(component, "__kind__", None)
    if kind is None:
        owner = component if isinstance(component, type) else type(component)
        raise SpecError(
            f"{owner.__name__} has no kind; register it with @register('a-name') so that a "
            "specification can name it"
        )
    return kind


def families() -> dict[str, type[Any]]:
    """All families by name."""
    return dict(_families)


def kinds(name: str) -> dict[str, type[Any]]:
    """All kinds of one family, in alphabetical order."""
    return dict(sorted(_kinds[name].items()))


def lookup(name: str, kind: str) -> type[Any]:
    """Return the class registered as `kind` in family `name`, or raise `UnknownKind`."""
    known = _kinds[name]
    if kind not in known:
        raise UnknownKind(unknown(f"{name} kind", kind, known))
    return known[kind]


def unknown(what: str, got: str, known: "dict[str, Any] | list[str]") -> str:
    """Sentence about an unknown name that suggests the nearest known one."""
    near = get_close_matches(got, list(known), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    return f"unknown {what} {got!r}{hint} known: {', '.join(sorted(known))}"

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

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from driftfold.errors import SpecError, UnknownKind

C = TypeVar("C", bound=type[Any])

_families: dict[str, type[Any]] = {}
_kinds: dict[str, dict[str, type[Any]]] = {}


def family(name: str) -> Callable[[C], C]:
    """Declare the decorated abstract class as the family `name`.

    Raises `SpecError` when another class has declared it.
    """

    def declare(base: C) -> C:
        taken = _families.get(name)
        if taken is not None and not _same_definition(taken, base):
            raise SpecError(
                f"family {name!r} is already {_path(taken)}; choose another name for {_path(base)}"
            )
        base.__family__ = name
        _families[name] = base
        _kinds.setdefault(name, {})
        return base

    return declare


def register(kind: str) -> Callable[[C], C]:
    """Register the decorated class under `kind` in the family of its base class.

    Raises `SpecError` when it belongs to no family, is not a frozen dataclass, lacks a method of
    its family, or the kind is taken by another class.
    """

    def add(component: C) -> C:
        name = family_of(component)
        fault = _fault(component, name, kind)
        if name is None or fault:
            raise SpecError(f"cannot register {component.__name__} as {kind!r}: {fault}")
        component.__kind__ = kind
        _kinds[name][kind] = component
        return component

    return add


@contextmanager
def provisional() -> Iterator[None]:
    """Keep what is registered inside only if the block ends without an error."""
    before = {name: dict(known) for name, known in _kinds.items()}
    try:
        yield
    except BaseException:
        for name in set(_families) - set(before):
            del _families[name], _kinds[name]
        for name, known in before.items():
            _kinds[name].clear()
            _kinds[name].update(known)
        raise


def family_of(component: object) -> str | None:
    """Name of the family a class belongs to, or None."""
    name: str | None = getattr(component, "__family__", None)
    return name


def kind_of(component: object) -> str:
    """Kind under which a component, or its class, was registered; subclasses inherit none."""
    owner = component if isinstance(component, type) else type(component)
    kind: str | None = vars(owner).get("__kind__")
    if kind is None:
        raise SpecError(
            f"{owner.__name__} has no kind; register it with @register('a_name') so that a "
            "specification can name it"
        )
    return kind


def families() -> dict[str, type[Any]]:
    """All families by name."""
    return dict(_families)


def kinds(name: str) -> dict[str, type[Any]]:
    """All kinds of one family, in alphabetical order."""
    return dict(sorted(_of_family(name).items()))


def lookup(name: str, kind: str) -> type[Any]:
    """Return the class registered as `kind` in family `name`, or raise `UnknownKind`."""
    known = _of_family(name)
    if not isinstance(kind, str) or kind not in known:
        raise UnknownKind(unknown(f"{name} kind", kind, known))
    return known[kind]


def unknown(what: str, got: object, known: Iterable[str]) -> str:
    """Sentence about an unknown name that suggests the nearest known one.

    >>> unknown("field", "stepz", ["rounds", "steps"])
    "unknown field 'stepz'; did you mean 'steps'? known: rounds, steps"
    """
    names = sorted(known)
    near = get_close_matches(str(got), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    return f"unknown {what} {got!r}{hint} known: {', '.join(names) or 'none'}"


def _of_family(name: str) -> dict[str, type[Any]]:
    if name not in _kinds:
        raise UnknownKind(unknown("family", name, _kinds))
    return _kinds[name]


def _fault(component: type[Any], name: str | None, kind: str) -> str | None:
    """Return what is wrong with registering `component` and what to change, or None."""
    if name is None:
        bases = ", ".join(base.__name__ for base in _families.values())
        return f"it derives from no family; derive it from one of {bases}"
    if not is_dataclass(component) or not component.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return "it is no frozen dataclass; put @dataclass(frozen=True) below @register"
    if inspect.isabstract(component):
        missing = ", ".join(sorted(component.__abstractmethods__))
        return f"it lacks what {_families[name].__name__} requires; define {missing}"
    taken = _kinds[name].get(kind)
    if taken is not None and not _same_definition(taken, component):
        return f"this {name} kind is already {_path(taken)}; choose another name"
    return None


def _same_definition(one: type[Any], other: type[Any]) -> bool:
    # A module that is reloaded, or run as a doctest, defines the same class again.
    return _path(one) == _path(other)


def _path(owner: type[Any]) -> str:
    return f"{owner.__module__}.{owner.__qualname__}"

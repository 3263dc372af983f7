"""Components from plain data, and back.

`decode` turns ``{"kind": "stiefel", "n": 100}`` into ``Stiefel(n=100)``, strictly: a string is not
a number, true is not 1, an unknown field is an error. `encode` writes every field out. All problems
of a specification are found in one pass, each with its dotted path.

>>> from dataclasses import dataclass
>>> from typing import Annotated
>>> from annotated_types import Le
>>> @dataclass(frozen=True)
... class Window:
...     shares: tuple[Annotated[float, Le(1)], ...]
...     name: str = "w"
>>> encode(decode(Window, {"shares": [0.5, 1]}))
{'shares': [0.5, 1.0], 'name': 'w'}
>>> decode(Window, {"shares": [0.5, 1.5]})
Traceback (most recent call last):
driftfold.errors.SpecError: shares[1]: got 1.5, wanted a finite number of at most 1
"""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from driftfold.errors import SpecError
from driftfold.registry import families, family_of, kind_of, kinds, lookup, unknown
from driftfold.spec.hints import (
    bare,
    family_name,
    fixed_length,
    is_group,
    is_sequence,
    items,
    members,
    wanted,
)
from driftfold.spec.plain import plain
from driftfold.spec.problems import Problems, join, shown

_BROKEN = object()


def decode(hint: Any, value: Any, path: str = "") -> Any:
    """Return `value` as `hint` wants it, or raise one `SpecError` with every problem.

    `UnknownKind` when one of the problems is a kind or field that nobody knows.
    """
    problems = Problems()
    decoded = _decode(hint, value, path, problems)
    problems.raise_if_any()
    return decoded


def encode(value: Any, path: str = "") -> Any:
    """Return a component as plain data: tables, lists, numbers, text, true, false and null."""
    if is_dataclass(value) and not isinstance(value, type):
        table = {} if family_of(value) is None else {"kind": kind_of(value)}
        for field in parameters(type(value)):
            table[field.name] = encode(getattr(value, field.name), join(path, field.name))
        return table
    if isinstance(value, Mapping):
        return {key: encode(entry, join(path, str(key))) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [encode(entry, f"{path}[{i}]") for i, entry in enumerate(value)]
    if isinstance(value, Enum):
        return encode(value.value, path)
    if hasattr(value, "tolist"):  # NumPy arrays and scalars: plain data know neither
        return value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise SpecError(
        f"{path or 'specification'}: got {shown(value)}, a {type(value).__name__}; wanted numbers, "
        "text, lists and registered components"
    )


def parameters(component: type[Any]) -> list[Field[Any]]:
    """Fields of a component that a specification may set, in order of definition."""
    return [field for field in fields(component) if field.init]


def annotations(component: type[Any]) -> dict[str, Any]:
    """Annotation of each field, constraints included."""
    return _annotations(component)  # type: ignore[arg-type]  # classes are hashable


def default_of(field: Field[Any]) -> Any:
    """Return the default of a field, or `dataclasses.MISSING`."""
    return field.default if field.default_factory is MISSING else field.default_factory()


@cache
def _annotations(component: Any) -> dict[str, Any]:
    return get_type_hints(component, include_extras=True)


def _decode(hint: Any, value: Any, path: str, problems: Problems) -> Any:
    inner, _ = bare(hint)
    if not _structured(inner):
        return plain(hint, value, path, problems)
    parts = members(inner)
    if len(parts) > 1:
        return _choice(parts, hint, value, path, problems)
    if is_sequence(inner):
        return _sequence(hint, value, path, problems)
    if _is_mapping(inner):
        return _mapping(inner, value, path, problems)
    name = family_name(inner)
    if name is not None:
        return _component(name, value, path, problems)
    return _fields(inner, inner.__name__, value, path, problems)


def _structured(hint: Any) -> bool:
    """Return whether components or tables occur anywhere in an annotation."""
    inner, _ = bare(hint)
    if family_name(inner) is not None or is_group(inner):
        return True
    return any(_structured(arg) for arg in get_args(inner))


def _choice(parts: tuple[Any, ...], hint: Any, value: Any, path: str, problems: Problems) -> Any:
    simple = tuple(part for part in parts if not _structured(part))
    if value is None and NoneType in simple:
        return None
    if isinstance(value, str) and (word := _plainly(simple, value, path)) is not None:
        return word  # and no kind of that name
    for part in parts:
        inner, _ = bare(part)
        if part in simple:
            continue
        takes_list = is_sequence(inner)
        named = isinstance(value, str) and family_name(inner) is not None
        if isinstance(value, list | tuple) if takes_list else isinstance(value, Mapping) or named:
            return _decode(part, value, path, problems)
    decoded = _plainly(simple, value, path)
    return _refuse(hint, value, path, problems) if decoded is None else decoded


def _plainly(simple: tuple[Any, ...], value: Any, path: str) -> Any:
    """Value as the first of some plain annotations that takes it, or None."""
    for part in simple:
        trial = Problems()
        decoded = plain(part, value, path, trial)
        if not trial:
            return decoded
    return None


def _sequence(hint: Any, value: Any, path: str, problems: Problems) -> Any:
    inner, _ = bare(hint)
    entries = items(inner)
    if not isinstance(value, list | tuple):
        return _refuse(hint, value, path, problems)
    if fixed_length(inner) and len(value) != len(entries):
        return problems.add(path, f"got {len(value)} entries, wanted {wanted(hint)}")
    each = entries if fixed_length(inner) else entries * len(value)
    return tuple(
        _decode(item, entry, f"{path}[{i}]", problems)
        for i, (item, entry) in enumerate(zip(each, value, strict=True))
    )


def _mapping(inner: Any, value: Any, path: str, problems: Problems) -> Any:
    if not isinstance(value, Mapping):
        return _refuse(inner, value, path, problems)
    return {
        key: _decode(get_args(inner)[1], entry, join(path, str(key)), problems)
        for key, entry in value.items()
    }


def _component(name: str, value: Any, path: str, problems: Problems) -> Any:
    table = {"kind": value} if isinstance(value, str) else value
    known = ", ".join(kinds(name))
    if not isinstance(table, Mapping):
        base = families()[name]
        return problems.add(
            path, f"got {shown(value)}, wanted {wanted(base)}; known kinds: {known}"
        )
    kind = table.get("kind")
    if not isinstance(kind, str):
        got = f"got the kind {shown(kind)}" if "kind" in table else "no kind given"
        return problems.add(path, f'{got}; write kind = "...", one of: {known}')
    if kind not in kinds(name):
        return problems.add(path, unknown(f"{name} kind", kind, kinds(name)), unknown=True)
    rest = {key: entry for key, entry in table.items() if key != "kind"}
    return _fields(lookup(name, kind), f"{name} {kind!r}", rest, path, problems)


def _fields(owner: type[Any], title: str, value: Any, path: str, problems: Problems) -> Any:
    if not isinstance(value, Mapping):
        return _refuse(owner, value, path, problems)
    known = {field.name: field for field in parameters(owner)}
    before = len(problems)
    for key in value:
        if key not in known:
            sentence = unknown(f"field of {title}", str(key), list(known))
            problems.add(path, sentence, unknown=True)
    given: dict[str, Any] = {}
    for name, field in known.items():
        hint, here = annotations(owner)[name], join(path, name)
        if name in value:
            given[name] = _decode(hint, _filled(value[name], hint, field), here, problems)
        elif default_of(field) is MISSING:
            problems.add(here, f"missing; wanted {wanted(hint)}")
    if len(problems) > before:
        return _BROKEN
    try:
        return owner(**given)
    except (SpecError, ValueError, TypeError) as error:
        return problems.add(path, " ".join(str(error).split()))


def _filled(value: Any, hint: Any, field: Field[Any]) -> Any:
    """Complete a table without a kind from the field's default component."""
    default = default_of(field)
    wants_kind = any(family_name(bare(part)[0]) for part in members(bare(hint)[0]))
    if not (wants_kind and isinstance(value, Mapping) and "kind" not in value):
        return value
    return {**encode(default), **value} if family_of(default) is not None else value


def _is_mapping(inner: Any) -> bool:
    origin = get_origin(inner)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _refuse(hint: Any, value: Any, path: str, problems: Problems) -> Any:
    return problems.add(path, f"got {shown(value)}, wanted {wanted(hint)}")

"""Annotations in words: what a field wants, as errors and listings say it.

>>> from typing import Annotated, Literal
>>> from annotated_types import Gt
>>> wanted(Annotated[float, Gt(0)] | Literal["full"])
"a finite number above 0, or 'full'"
>>> short(Annotated[float, Gt(0)] | Literal["full"])
"float | 'full'"
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as at

_PLAIN = {
    int: "a whole number",
    float: "a finite number",
    str: "text",
    bool: "true or false",
    NoneType: "null",
    Any: "anything",
}


def bare(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Split an annotation into its type and its constraints."""
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        return inner, tuple(_flat(marks))
    return hint, ()


def members(hint: Any) -> tuple[Any, ...]:
    """Members of a union, or the annotation itself alone."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def family_name(hint: Any) -> str | None:
    """Name of the family that an annotation (`Data`, `Estimator[Any]`) stands for, or None."""
    owner = get_origin(hint) or hint
    name: str | None = getattr(owner, "__family__", None) if isinstance(owner, type) else None
    return name


def is_group(hint: Any) -> bool:
    """Return whether an annotation is a plain dataclass: a table without a kind."""
    return isinstance(hint, type) and is_dataclass(hint) and family_name(hint) is None


def is_sequence(hint: Any) -> bool:
    """Return whether an annotation is a tuple, list or sequence of something."""
    return get_origin(hint) in (tuple, list, Sequence)


def items(hint: Any) -> tuple[Any, ...]:
    """Annotation of each entry of a sequence; one alone when the length is open."""
    return tuple(arg for arg in get_args(hint) if arg is not Ellipsis)


def fixed_length(hint: Any) -> bool:
    """Return whether a sequence annotation fixes the number of entries."""
    return get_origin(hint) is tuple and Ellipsis not in get_args(hint)


def wanted(hint: Any) -> str:
    """Say what an annotation wants, in words."""
    inner, marks = bare(hint)
    limits = [_limit(mark) for mark in marks]
    words = " and ".join(w for w in limits if w)
    what = _wanted(inner)
    return f"{what} {words}" if words else what.removesuffix(";")


def short(hint: Any) -> str:
    """Name the type of an annotation, constraints left out."""
    inner, _ = bare(hint)
    parts = members(inner)
    if len(parts) > 1:
        return " | ".join(dict.fromkeys(short(part) for part in parts))
    if get_origin(inner) is Literal:
        return " | ".join(repr(value) for value in get_args(inner))
    if is_sequence(inner):
        inside = ", ".join(short(item) for item in items(inner))
        return f"list[{inside}]"
    if get_origin(inner) is not None and issubclass(get_origin(inner), Mapping):
        return f"table[{', '.join(short(arg) for arg in get_args(inner))}]"
    if inner is NoneType:
        return "null"
    return family_name(inner) or str(getattr(inner, "__name__", inner))


def limits(hint: Any) -> str:
    """Constraints of an annotation in words, those of each member and entry; "" without any."""
    inner, marks = bare(hint)
    own = " and ".join(w for w in (_limit(mark) for mark in marks) if w)
    parts = members(inner)
    nested = parts if len(parts) > 1 else items(inner) if is_sequence(inner) else ()
    lead = "each " if is_sequence(inner) else ""
    deeper = [
        f"{lead if lead else short(part) + ' '}{words}"
        for part in nested
        if (words := limits(part))
    ]
    return "; ".join([w for w in (own, *deeper) if w])


def _wanted(inner: Any) -> str:
    parts = members(inner)
    if len(parts) > 1:
        return ", or ".join(wanted(part) for part in parts)
    if get_origin(inner) is Literal:
        return " or ".join(repr(value) for value in get_args(inner))
    if is_sequence(inner):
        each = "; ".join(wanted(item) for item in items(inner))
        return f"a list of exactly: {each};" if fixed_length(inner) else f"a list, each {each};"
    name = family_name(inner)
    if name is not None:
        article = "an" if name[0] in "aeiou" else "a"
        return f"{article} {name} (a table with a kind)"
    if is_group(inner):
        return f"a table ({inner.__name__})"
    return _PLAIN.get(inner, f"a {short(inner)}")


def _limit(mark: Any) -> str:
    match mark:
        case at.Gt():
            return f"above {mark.gt}"
        case at.Ge():
            return f"of at least {mark.ge}"
        case at.Lt():
            return f"below {mark.lt}"
        case at.Le():
            return f"of at most {mark.le}"
        case at.MultipleOf():
            return f"divisible by {mark.multiple_of}"
        case at.MinLen():
            return f"of length {mark.min_length} or more"
        case at.MaxLen():
            return f"of length {mark.max_length} or less"
    return ""


def _flat(marks: Iterable[Any]) -> Iterator[Any]:
    for mark in marks:
        # A group is told by a protocol, which takes long to ask about; single constraints are many.
        if not isinstance(mark, at.BaseMetadata) and isinstance(mark, at.GroupedMetadata):
            yield from _flat(mark)
        else:
            yield mark

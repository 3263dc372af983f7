"""Arbitrary components of every registered kind, from their annotations."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args, get_origin

from annotated_types import MinLen
from hypothesis import reject
from hypothesis import strategies as st

from driftfold.errors import SpecError
from driftfold.spec.codec import annotations, parameters
from driftfold.spec.hints import bare, family_name, is_group, is_sequence, items, members
from tests.modules import own_kinds


def of_kind(component: type[Any]) -> st.SearchStrategy[Any]:
    """Components of one class with arbitrary values in all fields."""
    hints = annotations(component)
    fields = {field.name: of_hint(hints[field.name]) for field in parameters(component)}

    def make(**values: Any) -> Any:
        try:
            return component(**values)
        except SpecError:
            reject()  # fields that are each allowed, but not together

    return st.builds(make, **fields)


@cache
def _of_family(name: str) -> st.SearchStrategy[Any]:
    # Deferred, since a product of manifolds is one itself.
    return st.deferred(lambda: st.one_of([of_kind(kind) for kind in own_kinds(name).values()]))


def is_mapping(hint: Any) -> bool:
    """Return whether an annotation is a mapping from some type to another."""
    return isinstance(get_origin(hint), type) and issubclass(get_origin(hint), Mapping)


def of_hint(hint: Any) -> st.SearchStrategy[Any]:
    """Values that an annotation allows and a specification can hold."""
    inner, marks = bare(hint)
    parts = members(inner)
    if len(parts) > 1:
        return st.one_of([of_hint(part) for part in parts])
    name = family_name(inner)
    if name is not None:
        return _of_family(name)
    if is_group(inner):
        return of_kind(inner)
    if is_sequence(inner) and all(isinstance(mark, MinLen) for mark in marks):
        entries = items(inner)
        if len(entries) > 1:
            return st.tuples(*map(of_hint, entries))
        (entry,) = entries
        least = max((mark.min_length for mark in marks), default=0)
        return st.lists(of_hint(entry), min_size=least, max_size=least + 3).map(tuple)
    if is_mapping(inner):
        key, entry = get_args(inner)
        return st.dictionaries(of_hint(key), of_hint(entry), max_size=2)
    allowed: st.SearchStrategy[Any] = st.from_type(hint)
    return allowed.filter(math.isfinite) if inner is float else allowed

"""Arbitrary components of every registered kind, from their annotations."""

import math
from typing import Any

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


def of_hint(hint: Any) -> st.SearchStrategy[Any]:
    """Values that an annotation allows and a specification can hold."""
    inner, marks = bare(hint)
    parts = members(inner)
    if len(parts) > 1:
        return st.one_of([of_hint(part) for part in parts])
    name = family_name(inner)
    if name is not None:
        return st.one_of([of_kind(kind) for kind in own_kinds(name).values()])
    if is_group(inner):
        return of_kind(inner)
    if is_sequence(inner) and not marks:
        (entry,) = items(inner)
        return st.lists(of_hint(entry), max_size=3).map(tuple)
    allowed: st.SearchStrategy[Any] = st.from_type(hint)
    return allowed.filter(math.isfinite) if inner is float else allowed

"""Plain values (numbers, text, lists of them) checked against an annotation by pydantic."""

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from driftfold.spec.hints import bare, fixed_length, is_sequence, items, members, wanted
from driftfold.spec.problems import Problems, shown

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MOST = 3


def plain(hint: Any, value: Any, path: str, problems: Problems) -> Any:
    """Return `value` as `hint` wants it, or note what is wrong with it and where.

    Strict: only what the JSON form of a type looks like is taken, with a whole number also where a
    number is wanted.
    """
    try:
        return _adapter(hint).validate_json(json.dumps(value))
    except (TypeError, ValueError, RecursionError):  # a ValidationError is a ValueError
        _explain(hint, value, path, problems)
        return None


@cache
def _adapter(hint: Any) -> "TypeAdapter[Any]":
    # Imported when the first value is checked: commands that only list kinds start faster.
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(hint, config=ConfigDict(strict=True, allow_inf_nan=False))


def _explain(hint: Any, value: Any, path: str, problems: Problems) -> None:
    """Note the problem, at the entry of a list that has it where one has."""
    lists = [part for part in members(bare(hint)[0]) if is_sequence(bare(part)[0])]
    if len(lists) == 1 and isinstance(value, list | tuple):
        hint = lists[0]
    inner, _ = bare(hint)
    if is_sequence(inner) and isinstance(value, list | tuple):
        entries = items(inner) if fixed_length(inner) else items(inner) * len(value)
        if len(entries) == len(value):
            found = Problems()
            for i, (item, entry) in enumerate(zip(entries, value, strict=True)):
                plain(item, entry, f"{path}[{i}]", found)
                if len(found) >= _MOST:
                    break
            if found:
                problems.extend(found)
                return
        else:
            problems.add(path, f"got {len(value)} entries, wanted {wanted(hint)}")
            return
    problems.add(path, f"got {shown(value)}, wanted {wanted(hint)}")

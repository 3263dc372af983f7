"""Single settings laid over a specification: ``seed=4``, ``algorithm.steps=10``."""

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from driftfold.errors import SpecError

_WORD = re.compile(r"[\w./:+-]+( [\w./:+-]+)*")


def parse_overrides(settings: Iterable[str]) -> dict[str, Any]:
    """Return the table that settings of the form ``path.to.field=value`` make together.

    A value is written as in TOML; words need no quotation marks, and ``null`` stands for a value
    that is not given. Of two settings of one field the last one counts.

    >>> parse_overrides(["seed=4", "algorithm.kind=fedavg", "algorithm.steps=10"])
    {'seed': 4, 'algorithm': {'kind': 'fedavg', 'steps': 10}}
    >>> parse_overrides(["seed"])
    Traceback (most recent call last):
    driftfold.errors.SpecError: got the setting 'seed', wanted path.to.field=value, ...
    """
    table: dict[str, Any] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        names = path.strip().split(".")
        if not equals or not all(names):
            raise SpecError(
                f"got the setting {setting!r}, wanted path.to.field=value, such as seed=4"
            )
        owner = table
        for name in names[:-1]:
            owner = owner.setdefault(name, {})
            if not isinstance(owner, dict):
                raise SpecError(
                    f"got the setting {setting!r}, but {name!r} was set to a single value before; "
                    "leave one of the two out"
                )
        owner[names[-1]] = _value(setting, text.strip())
    return table


def _value(setting: str, text: str) -> Any:
    if text == "null":
        return None
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        if _WORD.fullmatch(text):
            return text
    else:
        if set(parsed) == {"value"}:
            return parsed["value"]
    raise SpecError(
        f"got the setting {setting!r}, whose value is neither a TOML value nor a plain word; "
        'write numbers as 0.5, text as "some text", lists as [1, 2]'
    )

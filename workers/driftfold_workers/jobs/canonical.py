"""Canonical JSON: how values are written, so that equal ones have equal texts."""

import json
from typing import Any


def to_json(value: Any) -> str:
    """Return canonical JSON: equal values have equal texts. NaN and infinity come back as such.

    >>> to_json({"b": [1, 2.5], "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    return json.dumps(value, default=dict, sort_keys=True, separators=(",", ":"))

"""How one table is laid over another: `extends` and ``--set`` both mean this."""

from collections.abc import Mapping
from typing import Any


def merge(parent: Mapping[str, Any], child: Mapping[str, Any]) -> dict[str, Any]:
    """Lay `child` over `parent`.

    A table of another kind replaces the parent's wholesale, since its fields mean other things; a
    table of the same kind, or without one, changes only the fields it names. Lists and single
    values are replaced.

    >>> parent = {"estimator": {"kind": "ewma", "rate": 0.1}, "horizon": {"rounds": 9}}
    >>> merge(parent, {"estimator": {"rate": 0.2}, "horizon": {"seconds": 5.0}})
    {'estimator': {'kind': 'ewma', 'rate': 0.2}, 'horizon': {'rounds': 9, 'seconds': 5.0}}
    >>> merge(parent, {"estimator": {"kind": "none"}})["estimator"]
    {'kind': 'none'}
    """
    merged = dict(parent)
    for key, value in child.items():
        old = merged.get(key)
        if isinstance(old, str) and isinstance(value, Mapping):
            old = {"kind": old}  # a kind may be written as text alone
        if isinstance(old, Mapping) and isinstance(value, Mapping) and _same_kind(old, value):
            merged[key] = merge(old, value)
        else:
            merged[key] = value
    return merged


def _same_kind(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return "kind" not in new or new["kind"] == old.get("kind")

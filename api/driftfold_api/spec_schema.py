"""The JSON schema of a specification, from the same annotations that check it.

It says what has which shape. Which parts fit together, and how large an experiment may be, only the
service itself checks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter

from driftfold import presets
from driftfold.registry import families, family_of, kind_of, kinds
from driftfold.spec import JobSpec, load_builtins
from driftfold.spec.codec import annotations, default_of, parameters
from driftfold.spec.hints import (
    bare,
    family_name,
    fixed_length,
    is_group,
    is_sequence,
    items,
    members,
)
from driftfold.spec.inventory import describe

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def spec_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of a specification, with all kinds that are loaded.

    >>> spec_schema()["anyOf"][1]["properties"]["seed"]["minimum"]
    0
    """
    load_builtins()
    known = {
        f"{family}:{kind}": _table(component, kind)
        for family in sorted(families())
        for kind, component in kinds(family).items()
    }
    choices = {
        family: _any({"enum": list(kinds(family))}, *(_ref(f"{family}:{k}") for k in kinds(family)))
        for family in sorted(families())
    }
    complete = _table(JobSpec)
    changes: dict[str, Any] = {name: {} for name in complete["properties"]}
    parent = {"enum": list(presets.names()), "description": "A preset to start from."}
    return {
        "$schema": DIALECT,
        "title": "An experiment",
        "anyOf": [
            {
                "type": "object",
                "properties": {"extends": parent, **changes},
                "required": ["extends"],
                "additionalProperties": False,
            },
            complete,
        ],
        "$defs": {**choices, **known},
    }


def _table(owner: type[Any], kind: str | None = None, partial: bool = False) -> dict[str, Any]:
    """Return the schema of a component, or of a table without a kind; `partial`: any of it."""
    about = describe(owner)
    properties: dict[str, Any] = {} if kind is None else {"kind": {"const": kind}}
    required = [] if kind is None else ["kind"]
    docs = {field["name"]: field["doc"] for field in about["fields"]}
    for field in parameters(owner):
        default = default_of(field)
        found = _schema(annotations(owner)[field.name])
        if family_of(default) is not None:  # a table without a kind changes the default component
            found = _any(found, _table(type(default), kind_of(default), partial=True))
        elif default is MISSING:
            required.append(field.name)
        properties[field.name] = {**found, "description": docs[field.name]}
    return {
        "description": about["doc"],
        "type": "object",
        "properties": properties,
        "required": [] if partial else required,
        "additionalProperties": False,
    }


def _schema(hint: Any) -> dict[str, Any]:
    inner, _ = bare(hint)
    if not _structured(inner):
        return dict(_plain(hint))
    name = family_name(inner)
    if name is not None:
        return _ref(name)
    if len(members(inner)) > 1:
        return _any(*map(_schema, members(inner)))
    if is_sequence(inner):
        entries = [_schema(item) for item in items(inner)]
        if not fixed_length(inner):
            return {"type": "array", "items": entries[0]}
        return {"type": "array", "prefixItems": entries, "items": False, "minItems": len(entries)}
    origin = get_origin(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(get_args(inner)[1])}
    return _table(inner)


@cache
def _plain(hint: Any) -> Mapping[str, Any]:
    if hint is NoneType:
        return {"type": "null"}
    return TypeAdapter(hint, config=ConfigDict(strict=True)).json_schema()


def _structured(hint: Any) -> bool:
    inner, _ = bare(hint)
    parts: Iterable[Any] = get_args(inner)
    return family_name(inner) is not None or is_group(inner) or any(map(_structured, parts))


def _any(*schemas: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": list(schemas)}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}

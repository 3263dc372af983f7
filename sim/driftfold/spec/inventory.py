"""Every kind that can be named in a specification, with its fields: for people and for forms."""

from dataclasses import MISSING
from inspect import cleandoc
from typing import Any

from driftfold.registry import families, kinds
from driftfold.spec.builtins import load_builtins
from driftfold.spec.codec import annotations, default_of, encode, parameters
from driftfold.spec.hints import limits, short


def catalogue() -> dict[str, dict[str, dict[str, Any]]]:
    """Return family -> kind -> ``{"doc": ..., "fields": [...]}``, ready for JSON.

    Each field has ``name``, ``type``, ``required``, ``default``, ``constraint`` and ``doc``.

    >>> catalogue()["compute"]["loop"]["doc"]
    'One client at a time.'
    """
    load_builtins()
    return {
        family: {kind: describe(component) for kind, component in kinds(family).items()}
        for family in sorted(families())
    }


def describe(component: type[Any]) -> dict[str, Any]:
    """Return what a component is and which fields it has, ready for JSON."""
    text = cleandoc(component.__doc__ or "")
    told = _told(text)
    listed = []
    for field in parameters(component):
        default = default_of(field)
        hint = annotations(component)[field.name]
        listed.append(
            {
                "name": field.name,
                "type": short(hint),
                "required": default is MISSING,
                "default": None if default is MISSING else encode(default),
                "constraint": limits(hint),
                "doc": told.get(field.name, ""),
            }
        )
    return {"doc": text.partition("\n")[0], "fields": listed}


def _told(text: str) -> dict[str, str]:
    """Field descriptions from the Attributes or Parameters section of a docstring."""
    told: dict[str, list[str]] = {}
    inside, names = False, list[str]()
    lines = text.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if after and set(after) == {"-"}:
            inside, names = line.strip() in ("Attributes", "Parameters"), []
        elif not inside or set(line) == {"-"}:
            continue
        elif line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(":")[0].split(",")]
        elif line.strip():
            for name in names:
                told.setdefault(name, []).append(line.strip())
    return {name: " ".join(parts) for name, parts in told.items()}

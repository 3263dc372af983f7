"""Tables from the text of a file: TOML, YAML or JSON, with one meaning in all three.

YAML is read by the rules of its version 1.2: ``6e-3`` is a number and ``off`` is text, as in TOML
and JSON; repeated keys, aliases and tags that make objects are refused.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

from driftfold.errors import SpecError

SUFFIXES = (".toml", ".yaml", ".yml", ".json")

_OR = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"


def read_table(path: Path) -> dict[str, Any]:
    """Return the table in a file, or raise `SpecError` saying what is wrong with the file."""
    if path.suffix.lower() not in SUFFIXES:
        got = f"one that ends in {path.suffix}" if path.suffix else "one without an ending"
        raise SpecError(f"{path}: wanted a file that ends in {_OR}, got {got}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise SpecError(
            f"{path}: cannot read it: {(error.strerror or str(error)).lower()}"
        ) from None
    return parse(text, path.suffix.lower(), str(path))


def parse(text: str, suffix: str, title: str) -> dict[str, Any]:
    """Return the table that `text` holds in the format named by `suffix`.

    >>> parse("step_size = 6e-3", ".toml", "x.toml") == parse("step_size: 6e-3", ".yaml", "x.yaml")
    True
    >>> parse("{", ".json", "x.json")
    Traceback (most recent call last):
    driftfold.errors.SpecError: x.json: not valid JSON: Expecting property name enclosed in ...
    """
    form = "YAML" if suffix in (".yaml", ".yml") else suffix[1:].upper()
    try:
        if form == "TOML":
            table: Any = tomllib.loads(text)
        elif form == "JSON":
            table = json.loads(text, object_pairs_hook=_unique)
        else:
            table = _yaml(text)
    except RecursionError:
        raise SpecError(f"{title}: not a specification: nested too deeply") from None
    except ValueError as error:
        raise SpecError(f"{title}: not valid {form}: {_line(error)}") from None
    if not isinstance(table, dict):
        raise SpecError(f"{title}: got a {type(table).__name__}, wanted a table of fields")
    return table


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key!r} is given twice")
        table[key] = value
    return table


def _yaml(text: str) -> Any:
    import yaml

    from driftfold.spec.yaml12 import Yaml12Loader

    try:
        return yaml.load(text, Loader=Yaml12Loader)
    except yaml.YAMLError as error:
        raise ValueError(_line(error)) from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())

"""`driftfold kinds` and `driftfold presets`: what a specification can name."""

import json
from collections.abc import Iterable
from typing import Any

import typer

from driftfold import presets
from driftfold.errors import UnknownKind
from driftfold.registry import unknown
from driftfold.spec import catalogue, load_plugins
from driftfold.spec.readers import parse
from driftfold_api.errors import RequestError


def list_kinds(family: str | None, as_json: bool, plugins: Iterable[str]) -> None:
    """Print every kind of one family, or of all."""
    load_plugins(plugins)
    listed = catalogue()
    if family is not None:
        if family not in listed:
            raise UnknownKind(unknown("family", family, listed))
        listed = {family: listed[family]}
    if as_json:
        typer.echo(json.dumps(listed, indent=2))
        return
    for name, kinds in listed.items():
        typer.secho(name, bold=True)
        for kind, about in kinds.items():
            typer.echo(f"  {typer.style(kind, fg='cyan')}  {about['doc']}")
            for field in about["fields"]:
                typer.echo(f"      {_field(field)}")
        typer.echo()


def list_presets(as_json: bool) -> None:
    """Print every preset with what it is, in a sentence."""
    names = presets.names()
    if as_json:
        typer.echo(json.dumps([_about(name) for name in names], indent=2))
        return
    width = max(map(len, names), default=0)
    for name in names:
        typer.echo(f"{typer.style(name.ljust(width), fg='cyan')}  {presets.describe(name)}")


def show_preset(name: str, as_json: bool) -> None:
    """Print the file of one preset.

    Raises `RequestError` when there is none of that name.
    """
    if name not in presets.names():
        raise RequestError(unknown("preset", name, presets.names()))
    text = presets.read(name)
    if as_json:
        typer.echo(json.dumps({**_about(name), "text": text}, indent=2))
    else:
        typer.echo(text, nl=False)


def _about(name: str) -> dict[str, Any]:
    extends = parse(presets.read(name), ".toml", name).get("extends")
    return {"name": name, "doc": presets.describe(name), "extends": extends}


def _field(field: dict[str, Any]) -> str:
    """Return one line about a field.

    >>> _field({"name": "n", "type": "int", "required": False, "default": 3,
    ...         "constraint": "above 0", "doc": "How many."})
    'n: int = 3 (above 0)  How many.'
    """
    default = "" if field["required"] else f" = {_short(field['default'])}"
    constraint = f" ({field['constraint']})" if field["constraint"] else ""
    return f"{field['name']}: {field['type']}{default}{constraint}  {field['doc']}".rstrip()


def _short(default: Any) -> str:
    if isinstance(default, dict) and "kind" in default:
        return str(default["kind"])
    return json.dumps(default)

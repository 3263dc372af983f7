"""Writes `reference/specification.md` from the code: every field and every kind.

Run it as `python docs/make_reference.py` after a change of a specification's fields or kinds.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from driftfold import presets
from driftfold.spec import JobSpec, catalogue
from driftfold.spec.inventory import describe
from driftfold.world.policy import FaultPolicy, Horizon

PAGE = Path(__file__).parent / "reference" / "specification.md"

HEAD = """\
# The specification

This page is written by `docs/make_reference.py` from the code; do not edit it by hand.

One specification is one experiment. It is a table, written in TOML, YAML (1.2) or JSON, or made of
the same objects in Python. A part with a *kind* is a table that names it,
`{ kind = "stiefel", r = 5, d = 100 }`; where all its fields have defaults the name alone will do,
`estimator = "inclusive"`. A table without a kind changes fields of the default, or of the parent
that `extends` names. An unknown kind or field is an error that names the nearest known one. All
problems of a specification are told at once.

`extends = "NAME"` starts from a preset, or from another file, whose path is relative to the file
that says so. What the child says replaces what the parent says, field by field. A part with another
kind replaces the parent's part as a whole.

Where a meaning below says None, leave the field out; to undo what a parent says, write `null`
(YAML, JSON, and `--set FIELD=null`).

`driftfold kinds` prints the same lists in the terminal, with those of your own plug-ins, and
`driftfold kinds --json` prints them for programs.
"""


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD, "## Fields\n", *_component(describe(JobSpec))]
    for title, group in (("horizon", Horizon), ("faults", FaultPolicy)):
        parts += [f"### {title}\n", *_component(describe(group))]
    parts.append("## Presets\n")
    parts += _presets()
    for family, kinds in catalogue().items():
        parts.append(f"## Kinds of {family}\n")
        for kind, about in kinds.items():
            parts += [f"### {family} `{kind}`\n", *_component(about)]
    return "\n".join(parts)


def _component(about: Mapping[str, Any]) -> Iterable[str]:
    yield f"{about['doc']}\n"
    if not about["fields"]:
        return
    rows = [[_name(f), _code(f["type"]), _default(f), _meaning(f)] for f in about["fields"]]
    yield _table(["field", "type", "default", "meaning"], rows)


def _name(field: Mapping[str, Any]) -> str:
    return f"`{field['name']}`"


def _code(text: str) -> str:
    return f"`{_escaped(text)}`"


def _default(field: Mapping[str, Any]) -> str:
    if field["required"]:
        return "required"
    default = field["default"]
    if isinstance(default, dict) and "kind" in default:
        return _code(json.dumps(default["kind"]))
    if isinstance(default, dict):
        return _code(json.dumps({k: v for k, v in default.items() if v is not None}))
    return _code(json.dumps(default))


def _meaning(field: Mapping[str, Any]) -> str:
    words = [field["doc"]]
    if field["constraint"]:
        words.append(f"({field['constraint']})")
    return _escaped(" ".join(word for word in words if word))


def _presets() -> Iterable[str]:
    rows = []
    for name in presets.names():
        rows.append([f"`{name}`", _escaped(presets.describe(name))])
    yield _table(["preset", "what it is"], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)

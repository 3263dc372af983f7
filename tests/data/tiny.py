"""Sets of the catalogue with small files in place of the published ones."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from driftfold.data.catalogue import SETS, DataFile, Entry, Form, sets


def tiny_entry(name: str, contents: Mapping[str, bytes], form: int = 0) -> Entry:
    """Return a set's entry in one form only, whose files, by name, have these contents."""
    entry = SETS[name]
    files = [
        DataFile(
            file.path,
            len(contents[file.name]),
            sha256=hashlib.sha256(contents[file.name]).hexdigest(),
            packed=file.packed,
        )
        for file in entry.forms[form].files
    ]
    return replace(entry, forms=(Form(entry.forms[form].name, tuple(files)),))


def install(monkeypatch: pytest.MonkeyPatch, entry: Entry) -> None:
    """Let the catalogue have this entry."""
    monkeypatch.setattr(sets, "SETS", {**SETS, entry.name: entry})


def tiny_set(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    name: str,
    contents: Mapping[str, bytes],
    form: int = 0,
) -> str:
    """Write a small set, make it the catalogue's, and return the folder."""
    entry = tiny_entry(name, contents, form)
    for file in entry.forms[0].files:
        path = folder / name / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents[file.name])
    install(monkeypatch, entry)
    return str(folder)

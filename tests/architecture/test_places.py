"""What is in the repository works in any place: no file names one machine's folders."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.modules import ROOT

FOLDERS = (".ci", "sim", "api", "workers", "tests", "examples", "bench", "docs")
SUFFIXES = {".py", ".md", ".toml", ".json", ".yaml", ".yml", ".expected", ".lock", ".txt", ""}
PLACE = re.compile(r"(?<![\w.}])/(?:work|tmp|home|root|Users|mnt|private|opt)/[\w.-]+")


def text_files() -> Iterator[Path]:
    yield from (path for path in ROOT.iterdir() if path.is_file())
    for folder in FOLDERS:
        yield from (ROOT / folder).rglob("*")


def places(text: str) -> list[str]:
    return PLACE.findall(text)


def test_no_file_names_a_place_of_one_machine() -> None:
    found = {}
    for path in text_files():
        if path.is_file() and path.suffix in SUFFIXES and "__pycache__" not in path.parts:
            named = places(path.read_text(encoding="utf-8", errors="replace"))
            if named:
                found[str(path.relative_to(ROOT))] = named
    assert not found


def test_places_are_noticed() -> None:
    for top in ("work", "tmp", "home", "Users"):
        assert places(f"see '/{top}/somebody/notes.md'") == [f"/{top}/somebody"]
    for others in (
        ("https:", "", "example.org", "home", "page"),
        ("${HOME}", "root", "x"),
        ("..", "opt", "x"),
        ("", "path", "to", "python3.12"),
    ):
        assert not places("/".join(others))

"""Every block of code in the documents runs, and prints what the document says it prints.

`tests/documents.py` says how blocks are marked.
"""

import re
from pathlib import Path

import pytest

from tests.documents import blocks, execute_document, fences
from tests.modules import ROOT

GUIDES = sorted((ROOT / "docs").rglob("*.md"))
NAMES = [str(path.relative_to(ROOT)) for path in GUIDES]
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("guide", GUIDES, ids=NAMES)
def test_the_guide_runs(guide: Path, tmp_path: Path) -> None:
    execute_document(guide, tmp_path)


@pytest.mark.parametrize("guide", GUIDES, ids=NAMES)
def test_every_fence_is_understood(guide: Path) -> None:
    """A block that nobody can parse would silently never run."""
    text = guide.read_text(encoding="utf-8")
    assert len(blocks(text)) == fences(text)


PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *GUIDES]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_to_files_that_exist(page: Path) -> None:
    broken = [
        link
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_files_that_are_named_exist(page: Path) -> None:
    """Paths in `backquotes` are meant from the root of the repository or of the library."""
    named = re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|toml|md|expected))`", page.read_text("utf-8"))
    homes = (ROOT, ROOT / "sim", ROOT / "sim" / "driftfold", ROOT / "docs")
    assert not [path for path in named if not any((home / path).exists() for home in homes)]

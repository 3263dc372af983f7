"""Every block of code in the README runs, and prints what the README says it prints.

`tests/documents.py` says how blocks are marked.
"""

from pathlib import Path

from tests.documents import blocks, execute_document, fences
from tests.modules import ROOT

README = ROOT / "README.md"


def test_the_readme_runs(tmp_path: Path) -> None:
    execute_document(README, tmp_path)


def test_every_fence_is_understood() -> None:
    """A block that nobody can parse would silently never run."""
    text = README.read_text(encoding="utf-8")
    assert len(blocks(text)) == fences(text) > 0

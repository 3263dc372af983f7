"""Every block of code in the README runs, and prints what the README says it prints.

`tests/documents.py` says how blocks are marked.
"""

import re
from pathlib import Path

from tests.documents import blocks, execute_document, fences
from tests.modules import ROOT

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_the_readme_runs(tmp_path: Path) -> None:
    execute_document(README, tmp_path)


def test_every_fence_is_understood() -> None:
    """A block that nobody can parse would silently never run."""
    assert len(blocks(TEXT)) == fences(TEXT) > 0


def test_the_main_experiment_is_quoted_as_it_runs() -> None:
    """The transcript itself is compared with a run by a slow test of the examples."""
    transcript = ROOT / "examples" / "demo.py.slow.expected"
    said = [" ".join(line.split()) for line in transcript.read_text(encoding="utf-8").splitlines()]
    rows = re.findall(r"^\| (RFed[^|]+) \| ([^|]+) \| ([^|]+) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 4
    for row in rows:
        assert any(line.startswith(" ".join(row)) for line in said), row

"""The table of what the service promises names tests that are there."""

import re

import pytest

from tests.faults.cases import named_in_file
from tests.modules import ROOT

PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## What is promised\n")[2].partition("\n## ")[0]


def named(text: str) -> dict[str, set[str]]:
    """Tests that a text names, by their file."""
    found: dict[str, set[str]] = {}
    for place, tests in re.findall(r"`(tests/\S+\.py)`((?: `test_\w+`(?:\\\*)?)+)", text):
        found.setdefault(place, set()).update(re.findall(r"test_\w+", tests))
    return found


def test_each_promise_has_tests() -> None:
    rows = [row for row in SECTION.splitlines() if row.startswith("| ")][1:]
    assert len(rows) >= 11
    assert all(named(row) for row in rows)


@pytest.mark.parametrize("place", sorted(named(SECTION)))
def test_what_is_named_is_there(place: str) -> None:
    assert named(SECTION)[place] <= named_in_file(place)

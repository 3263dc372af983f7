"""The tables that say where the papers' statements are tested are true."""

import ast
import re
from collections.abc import Iterator

import pytest

from driftfold.studies.rfedags import RFEDAGS
from tests.faults.cases import named_in_file
from tests.modules import ROOT

PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Where the paper's statements are tested\n")[2].partition("\n## ")[0]
ADAPTATION = (ROOT / "docs" / "adaptation.md").read_text(encoding="utf-8")
OTHER = ADAPTATION.partition("## Where it is tested\n")[2].partition("\n## ")[0]


def named(text: str) -> Iterator[tuple[str, str, bool]]:
    """File and name of each test, and whether a star says that it takes longer."""
    place = ""
    for word, star in re.findall(r"`([^`]+)`(\\?\*?)", text):
        if word.endswith(".py"):
            place = word
        elif word.startswith("test_"):
            yield place, word, bool(star)


def slow(place: str) -> set[str]:
    """The file's tests that run only when asked for."""
    tree = ast.parse((ROOT / place).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    marks = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    if any(mark.startswith("pytestmark") and "mark.slow" in mark for mark in marks):
        return {node.name for node in functions}
    return {
        node.name
        for node in functions
        if "pytest.mark.slow" in map(ast.unparse, node.decorator_list)
    }


def table(header: str, section: str = SECTION) -> list[list[str]]:
    """Cells of the rows of the table with this header."""
    lines = section.partition(header + "\n")[2].splitlines()[1:]
    end = next(i for i, line in enumerate([*lines, ""]) if not line.startswith("|"))
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[:end]]


@pytest.mark.parametrize("place", sorted({place for place, _, _ in named(SECTION + OTHER)}))
def test_tests_that_are_named_are_there_and_slow_where_a_star_says_so(place: str) -> None:
    told = {test: star for file, test, star in named(SECTION + OTHER) if file == place}
    assert told.keys() <= named_in_file(place)
    assert {test for test, star in told.items() if star} == told.keys() & slow(place)


def test_each_statement_of_the_theory_has_tests() -> None:
    rows = table("| | statement | on | tests |")
    assert [row[0].strip() for row in rows] == [f"T{number}" for number in range(1, 12)]
    assert all(list(named(row[3])) for row in rows)
    assert all(list(named(row[1])) for row in table("| what | tests |"))


def test_each_statement_about_fed_ade_has_tests() -> None:
    rows = table("| | statement | tests |", OTHER)
    assert [row[0].strip() for row in rows] == [str(number) for number in range(1, 13)]
    assert all(list(named(row[2])) for row in rows)
    assert all(list(named(row[2])) for row in table("| system | what | tests |", OTHER))


def test_each_experiment_and_each_claim_of_the_study_is_there() -> None:
    rows = table("| what | manifold | experiments | claims |")
    experiments = [name for row in rows for name in re.findall("`([^`]+)`", row[2])]
    claims = {name for row in rows for name in re.findall("`([^`]+)`", row[3])}
    assert sorted(experiments) == sorted(e.name for e in RFEDAGS.experiments)
    assert claims == {claim.name for claim in RFEDAGS.claims}

"""Lists of failures and of the tests that show what becomes of each, written as docstrings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def cases(text: str) -> list[list[tuple[str, str]]]:
    """File and name of the tests of each case, in the order of the text."""
    found: list[list[tuple[str, str]]] = []
    for part in re.split(r"(?m)^- ", text)[1:]:
        found.append(list(_tests(part)))
    return found


def _tests(part: str) -> Iterator[tuple[str, str]]:
    place = ""
    for line in part.splitlines():
        if match := re.fullmatch(r" +(tests/\S+\.py)::", line):
            place = match[1]
        elif match := re.fullmatch(r" +(test_\w+)", line):
            yield place, match[1]


def named_in_file(place: str) -> set[str]:
    """Names of the tests of a file."""
    tree = ast.parse((ROOT / place).read_text(encoding="utf-8"))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in tree.body if isinstance(node, kinds)}

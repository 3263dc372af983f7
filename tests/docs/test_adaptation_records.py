"""The page about records says what every adaptation reports, and nothing that none does."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from driftfold.algorithms.adaptation import Adaptation
from driftfold.registry import kind_of
from driftfold.run import run
from driftfold.telemetry import read_records
from driftfold.world.policy import Horizon
from driftfold.world.tally import OUTCOMES
from tests.algorithms.adaptation.systems import QUICK, SYSTEMS, job

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "records.md"
KINDS = frozenset(kind_of(system) for system in SYSTEMS)
SERVER = {"weight_sum", "weight_max", "effective_size", "bytes_down", "bytes_up", *OUTCOMES}
"""Values of a round that all algorithms have."""


def rows(section: str, head: str) -> Iterator[list[str]]:
    """Lines of the table with this head in a section, cell by cell."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2]
    table = text.partition(f"| {head} |")[2].partition("\n\n")[0]
    for line in table.splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("| ").split(" | ")]


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def who(cell: str) -> frozenset[str]:
    kinds = frozenset(named(cell))
    assert kinds <= KINDS
    return KINDS - kinds if cell.startswith("all") else kinds


def told(head: str) -> dict[str, frozenset[str]]:
    """By value, the kinds of the systems that report it, after the page."""
    found = rows("Streams and adaptation", f"{head} | systems")
    return {name: who(systems) for cell, systems, _ in found for name in named(cell)}


def reported(systems: Sequence[Adaptation], folder: Path) -> dict[str, dict[str, set[str]]]:
    """By kind of record (and "figure" for each client's), and value, who reports it."""
    seen: dict[str, dict[str, set[str]]] = {"evaluation": {}, "round": {}, "figure": {}}
    for i, system in enumerate(systems):
        spec = replace(job(system), horizon=Horizon(rounds=3), evaluate_every=1)
        run(spec, folder=folder / str(i))
        for record in read_records(folder / str(i)):
            for name in record.values:
                seen.setdefault(record.kind, {}).setdefault(name, set()).add(kind_of(system))
            for name in record.detail or ():
                plain = re.sub(r"^\d\.", "", name)
                seen["figure"].setdefault(plain, set()).add(kind_of(system))
    return seen


def test_what_one_system_reports_is_told(tmp_path: Path) -> None:
    seen = reported(QUICK, tmp_path)
    figures, steps = told("figure"), told("value")
    evaluated = {
        name for cell, _ in rows("Streams and adaptation", "value") for name in named(cell)
    }
    assert set(seen["evaluation"]) == evaluated
    assert set(seen["figure"]) - {"client"} <= {n for n in figures if "fedade" in figures[n]}
    assert set(seen["round"]) <= {*SERVER, *figures, *steps}
    assert set(seen["drift"]) == {"step", "labels"}


@pytest.mark.slow
def test_what_each_system_reports_is_told_and_no_more(tmp_path: Path) -> None:
    seen = reported(SYSTEMS, tmp_path)
    figures, steps = told("figure"), told("value")
    del seen["figure"]["client"]
    assert {name: frozenset(kinds) for name, kinds in seen["figure"].items()} == figures
    of_rounds = {n: frozenset(kinds) for n, kinds in seen["round"].items() if n not in SERVER}
    wanted = {
        n: figures.get(n, frozenset()) | steps.get(n, frozenset()) for n in {*figures, *steps}
    }
    assert of_rounds == wanted

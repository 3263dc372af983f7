"""`driftfold study --estimate`: how long the rest of a study will take, measured, not guessed."""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from driftfold.spec import to_mapping
from driftfold.studies import Study
from driftfold.studies.cells import Cell
from driftfold.studies.crew import Crew, Ended
from driftfold.studies.orders import Measure
from driftfold.studies.rates import Rate, makespan, pace_key
from driftfold_api.progress import duration

SECONDS = 0.5
"""Of rounds that are measured of each pace."""

FILE = "rates.json"

CLEAR = "\r\x1b[K"  # back to the start of the line, and nothing on it


def load_rates(root: Path) -> dict[str, Rate]:
    """Return what was measured before in the folder of a study."""
    try:
        table = json.loads((root / FILE).read_text(encoding="utf-8"))
        return {pace: Rate(**rate) for pace, rate in table.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def measure_all(cells: Sequence[Cell], root: Path, cores: int, quiet: bool) -> dict[str, Rate]:
    """Measure a few rounds of each pace that cells run at, and keep it for the run to come."""
    kinds: dict[str, Cell] = {}
    for cell in sorted(cells, key=lambda cell: bool(cell.reads)):  # what it reads may be to come
        kinds.setdefault(pace_key(cell.spec), cell)
    rates: dict[str, Rate] = {}
    orders = [
        (pace, Measure(to_mapping(cell.spec), SECONDS, cell.read_folder(root)))
        for pace, cell in kinds.items()
    ]
    over = 0
    with Crew(cores) as crew:
        for event in crew.work(orders):
            if not isinstance(event, Ended):
                continue
            over += 1
            if event.outcome.rate is not None:
                rates[event.key] = event.outcome.rate
                _keep(rates, root)
            if not quiet:
                _tell(f"{over}/{len(orders)} measured", kinds[event.key].name, event.outcome.about)
    if not quiet and sys.stderr.isatty():
        typer.echo(CLEAR, err=True, nl=False)
    return rates


def _keep(rates: Mapping[str, Rate], root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    table = {pace: asdict(rate) for pace, rate in {**load_rates(root), **rates}.items()}
    (root / FILE).write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


def _tell(progress: str, name: str, trouble: str) -> None:
    """Overwrite one line on a terminal; in a log tell troubles only."""
    line = CLEAR if sys.stderr.isatty() else ""
    if trouble:
        typer.echo(f"{line}{name}: {trouble}", err=True)
    if line:
        typer.echo(f"{line}{progress}", err=True, nl=False)


def print_estimate(
    study: Study,
    cells: Sequence[Cell],
    todo: Sequence[Cell],
    rates: Mapping[str, Rate],
    cores: int,
) -> None:
    """Print what each experiment will take, and all of them on these cores."""
    expected: dict[str, list[float]] = defaultdict(list)
    unknown: dict[str, int] = defaultdict(int)
    for cell in todo:
        rate = rates.get(pace_key(cell.spec))
        if rate is None:
            unknown[cell.experiment] += 1
        else:
            expected[cell.experiment].append(rate.expected(cell.spec))
    table = Table(title=f"{study.name}: expected times")
    for name in ("experiment", "cells to run", "one cell", "all cells"):
        table.add_column(name, justify="left" if name == "experiment" else "right")
    for experiment in dict.fromkeys(cell.experiment for cell in cells):
        times, blind = expected[experiment], unknown[experiment]
        one = duration(sum(times) / len(times)) if times else "-"
        total = duration(sum(times)) if times else "-"
        table.add_row(experiment, str(len(times) + blind), one, total)
    everything = [seconds for times in expected.values() for seconds in times]
    table.add_section()
    table.add_row("all, on one core", str(len(todo)), "", duration(sum(everything)))
    table.add_row(f"all, {cores} at a time", "", "", duration(makespan(everything, cores)))
    Console().print(table)

"""The result of a run as a table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from driftfold.result import Result
from driftfold_api.models import JobDetail
from driftfold_api.progress import duration

_ENDED = {
    "rounds": "all rounds done",
    "seconds": "virtual time is over",
    "nobody left": "no client will ever be available again",
}


def print_result(result: Result, title: str, folder: Path, plot: Path | None) -> None:
    """Print what a run gave, and where its files are."""
    where = {"folder": str(folder)} if plot is None else {"folder": str(folder), "plot": str(plot)}
    print_table(result.to_json(), title, where)


def used(job: JobDetail) -> str:
    """Say what a job has used up over all its attempts; "" of one that tells nothing of it.

    It has not begun, or ran with an earlier version.
    """
    if not job.used.wall_seconds:
        return ""
    amount, attempts = job.used, f"{job.attempt} attempt{'' if job.attempt == 1 else 's'}"
    return f"{amount.cpu_seconds:.3g} s of CPU in {amount.wall_seconds:.3g} s, {attempts}"


def print_table(result: Mapping[str, Any], title: str, where: Mapping[str, str]) -> None:
    """Print a result table: metrics first, then how it went, then where it is.

    `where` has further lines, by what they are called; empty ones are left out.
    """
    table = Table(title=Text(title), show_header=False, min_width=40)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in result["metrics"].items():
        table.add_row(Text(name), f"{float(value):.6g}")
    table.add_section()
    table.add_row("ended", _ENDED.get(result["ended"], result["ended"]))
    table.add_row("rounds", f"{result['rounds']:,}")
    table.add_row("virtual time", duration(result["time"]))
    wall = result["timing"].get("wall")
    if wall is not None:
        table.add_row("wall time", f"{wall:.2f} s")
    table.add_row("events", f"{result['events']:,}")
    counted = {name: count for name, count in result["counts"].items() if count}
    table.add_row("clients", ", ".join(f"{name} {count:,}" for name, count in counted.items()))
    table.add_section()
    for name in ("spec_digest", "event_digest", "metrics_digest"):
        table.add_row(name.replace("_", " "), result[name])
    for name, place in where.items():
        if place:
            table.add_row(name, Text(place))
    console = Console()
    console.print(table)
    if result["resumed_from"] is not None:
        console.print(f"resumed from round {result['resumed_from']}")
    for change in result["changes"]:
        console.print(f"differs from the software of the snapshot: {change}", markup=False)

"""The verdicts on the terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from driftfold.studies.verdict import Verdict
from driftfold_api.studying.report.model import Report

COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.HOLDS_ONLY: "yellow",
    Verdict.FAILS: "red",
    Verdict.UNDECIDED: "yellow",
    Verdict.NOT_TESTED: "dim",
}


def print_verdicts(report: Report) -> None:
    """Print a row for each claim; of a part of the study, for each that it tests."""
    table = Table(title=Text(f"{report.study.title} ({report.form_in_words})"))
    table.add_column("claim")
    table.add_column("verdict", no_wrap=True)
    table.add_column("reason")
    left_out = 0
    for claim, finding in report.tested_first:
        if report.form.only and finding.verdict is Verdict.NOT_TESTED:
            left_out += 1
            continue
        colour = COLOURS[finding.verdict]
        table.add_row(
            Text(claim.sentence), Text(finding.verdict, style=colour), Text(finding.reason)
        )
    console = Console()
    if table.row_count:
        console.print(table)
    if left_out:
        console.print(f"{left_out} claims need other experiments: the report lists them.")

"""The summary: the same as the page without its plots, in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from driftfold.studies.base import Experiment
from driftfold.studies.overview import Overview
from driftfold.studies.tables import Entry, tables
from driftfold.studies.verdict import Evidence
from driftfold_api.progress import duration
from driftfold_api.studying.report.figures import STATISTICS, figure, mark, span
from driftfold_api.studying.report.model import Report


def to_markdown(report: Report) -> str:
    """Return the summary."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {report.study.title}"
    yield ""
    yield f"{report.study.about} This is the {report.form_in_words}."
    yield ""
    yield "## Verdicts"
    yield ""
    rows = [
        [claim.sentence, f"**{finding.verdict}**", finding.reason, _evidence(finding.evidence)]
        for claim, finding in report.tested_first
    ]
    yield f"{report.tally}."
    yield ""
    yield from _table(["claim", "verdict", "reason", "evidence"], rows)
    yield ""
    yield (
        "Each verdict follows from a rule that was fixed before the values were known. "
        + STATISTICS
    )
    for overview in report.overviews:
        yield ""
        yield from _overview(report, overview)
    for experiment in report.experiments:
        yield ""
        yield from _experiment(report, experiment)
    yield ""
    yield from _how(report)


def _overview(report: Report, overview: Overview) -> Iterator[str]:
    yield f"## {overview.title}"
    yield ""
    rows = zip(overview.rows, overview.entries(report.values), strict=True)
    header = ["", *(label for label, _ in overview.columns)]
    cells = ([label, *(_cell(Entry(o, None, None)) for o in row)] for (label, _), row in rows)
    yield from _table(header, cells)


def _evidence(evidence: Iterable[Evidence]) -> str:
    return "; ".join(_one(row) for row in evidence)


def _one(row: Evidence) -> str:
    ends = span(row.interval)
    return f"{row.what}: {figure(row.interval.centre)}" + (f" ({ends})" if ends else "")


def _experiment(report: Report, experiment: Experiment) -> Iterator[str]:
    yield f"## {experiment.title}"
    yield ""
    seeds = len(experiment.seeds)
    yield f"`{experiment.name}`: {experiment.source}; {seeds} seed{'s' * (seeds > 1)}."
    if experiment.note:
        yield experiment.note
    if not report.measured(experiment):
        yield ""
        yield f"Not run: {report.absent.get(experiment.name, 'no cell has a result')}."
        return
    for table in tables(experiment, report.values):
        yield ""
        header = [f"{table.metric} after round", *(f"{round:,}" for round in table.rounds)]
        yield from _table(header, [[label, *map(_cell, row)] for label, row in table.rows])


def _cell(entry: Entry) -> str:
    parts = []
    if entry.ours is None:
        parts.append("-")
    else:
        ends = span(entry.ours)
        parts.append(figure(entry.ours.centre) + (f" ({ends})" if ends else ""))
    if entry.published is not None:
        parts.append(f"paper {figure(entry.published.value)}{mark(entry.match)}")
    return "<br>".join(parts)


def _how(report: Report) -> Iterator[str]:
    facts = report.facts
    yield "## How it was run"
    yield ""
    yield f"    {facts.command}"
    yield ""
    this, all_ = (duration(seconds) for seconds in facts.seconds)
    yield f"- {facts.done} of {facts.cells} runs have a result"
    yield f"- {this} for this call; all runs together took {all_} of one core"
    yield f"- {facts.machine}; one thread a run"
    yield "- " + ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    yield f"- written {facts.written}"
    for trouble in report.told_troubles():
        yield f"- no result: {trouble}"
    yield ""
    yield "Sources:"
    yield ""
    yield from (f"- {source}" for source in report.study.sources)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"

"""The report as one page of HTML that needs nothing else: no script, no network."""

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from driftfold.studies.base import Claim, Experiment
from driftfold.studies.overview import Overview
from driftfold.studies.tables import Entry, Table, tables
from driftfold.studies.verdict import Evidence, Finding, Verdict
from driftfold_api.progress import duration
from driftfold_api.studying.report.curves import draw, look
from driftfold_api.studying.report.dots import draw_dots
from driftfold_api.studying.report.figures import STATISTICS, figure, mark, span, wanted
from driftfold_api.studying.report.model import Report

_DASHES = {"-": "", "--": "6 3", "-.": "6 2 1 2", ":": "1 2"}
_CLASSES = {
    Verdict.HOLDS: "holds",
    Verdict.HOLDS_ONLY: "only",
    Verdict.FAILS: "fails",
    Verdict.UNDECIDED: "undecided",
    Verdict.NOT_TESTED: "untested",
}


def to_page(report: Report) -> str:
    """Return the page."""
    title = escape(report.study.title)
    style = (files(__package__) / "style.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<header>
<h1>{title}</h1>
<p>{escape(report.study.about)}</p>
<p class="quiet">{_line(report)}</p>
</header>
{"".join(_sections(report))}</main>
</body>
</html>
"""


def _line(report: Report) -> str:
    facts = report.facts
    parts = [
        report.form_in_words,
        f"{facts.done} of {facts.cells} runs",
        f"driftfold {facts.versions['driftfold']}",
        facts.written,
    ]
    return escape(" · ".join(parts))


def _sections(report: Report) -> Iterator[str]:
    yield "".join(_verdicts(report))
    for number, overview in enumerate(report.overviews):
        yield "".join(_overview(report, overview, number))
    for experiment in report.experiments:
        yield "".join(_experiment(report, experiment))
    yield "".join(_how(report))


def _verdicts(report: Report) -> Iterator[str]:
    yield '<section id="verdicts">\n<h2>Verdicts</h2>\n'
    yield f'<p class="quiet">{escape(report.tally)}</p>\n<ol class="claims">\n'
    yield from (_claim(claim, finding) for claim, finding in report.tested_first)
    yield (
        '</ol>\n<p class="quiet">Each verdict follows from a rule that was fixed before the values '
        f"were known. {escape(STATISTICS)}</p>\n</section>\n"
    )


def _overview(report: Report, overview: Overview, number: int) -> Iterator[str]:
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label, _ in overview.columns)
    yield f'<section id="overview-{number}">\n<h2>{escape(overview.title)}</h2>\n'
    yield f"<figure>\n{draw_dots(overview, report.values)}\n</figure>\n"
    yield '<div class="scroll"><table class="values">\n<thead><tr><th scope="col"></th>'
    yield f"{head}</tr></thead>\n<tbody>\n"
    for (label, _), row in zip(overview.rows, overview.entries(report.values), strict=True):
        cells = "".join(_entry(Entry(ours, None, None)) for ours in row)
        yield f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>\n'
    yield "</tbody></table></div>\n</section>\n"


def _claim(claim: Claim, finding: Finding) -> str:
    reason = f"{escape(_capital(finding.reason))}."
    if not finding.verdict.tested:
        return (
            f'<li class="brief" id="claim-{escape(claim.name)}">\n'
            f'<p class="verdict untested">{escape(finding.verdict)}</p>\n'
            f'<div>\n<p>{escape(claim.sentence)}</p>\n<p class="quiet">{reason}</p>\n'
            "</div>\n</li>\n"
        )
    rows = "".join(map(_evidence, finding.evidence))
    evidence = f'<table class="evidence"><tbody>{rows}</tbody></table>\n' if rows else ""
    return (
        f'<li id="claim-{escape(claim.name)}">\n'
        f'<p class="verdict {_CLASSES[finding.verdict]}">{escape(finding.verdict)}</p>\n'
        f'<div>\n<p class="sentence">{escape(claim.sentence)}</p>\n'
        f"<p>{reason}</p>\n{evidence}"
        f'<p class="quiet">{escape(_capital(claim.source))}</p>\n</div>\n</li>\n'
    )


def _evidence(row: Evidence) -> str:
    return (
        f'<tr><th scope="row">{escape(row.what)}</th>'
        f'<td class="number">{figure(row.interval.centre)}</td>'
        f'<td class="quiet">{span(row.interval)}</td></tr>'
    )


def _experiment(report: Report, experiment: Experiment) -> Iterator[str]:
    seeds = len(experiment.seeds)
    told = f"{experiment.source}; {seeds} seed{'s' * (seeds > 1)}"
    yield f'<section id="{escape(experiment.name)}">\n<h2>{escape(experiment.title)}</h2>\n'
    yield f'<p class="quiet">{escape(_capital(told))}.</p>\n'
    if experiment.note:
        yield f"<p>{escape(experiment.note)}</p>\n"
    if report.measured(experiment):
        yield from _figure(report, experiment)
        for table in tables(experiment, report.values):
            yield _table(table)
    else:
        why = report.absent.get(experiment.name, "no run has a result")
        yield f'<p class="lost">Not run: {escape(why)}.</p>\n'
    yield "</section>\n"


def _figure(report: Report, experiment: Experiment) -> Iterator[str]:
    yield f"<figure>\n{draw(experiment, report.values)}\n<figcaption>\n"
    for number, arm in enumerate(experiment.curves):
        colour, stroke = look(number)
        yield (
            f'<span class="key"><svg viewBox="0 0 24 8"><path d="M1 4h22" '
            f'style="stroke: var(--curve-{colour})" stroke-dasharray="{_DASHES[stroke]}"/></svg>'
            f"{escape(arm.label)}</span>\n"
        )
    rings = any(row.metric in ("", experiment.metric) for row in experiment.published)
    several = len(experiment.seeds) > 1
    notes = [
        f"{experiment.metric} against rounds",
        *(["median and quartiles of the seeds"] if several else []),
        *(["rings: published"] if rings else []),
    ]
    yield f'<span class="quiet">{escape("; ".join(notes))}</span>\n</figcaption>\n</figure>\n'


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{round:,}</th>' for round in table.rounds)
    rows = "".join(
        f'<tr><th scope="row">{escape(label)}</th>{"".join(map(_entry, row))}</tr>\n'
        for label, row in table.rows
    )
    return (
        f'<div class="scroll"><table class="values">\n<thead><tr><th scope="col">'
        f"{escape(table.metric)} after round</th>{head}</tr></thead>\n"
        f"<tbody>\n{rows}</tbody></table></div>\n"
    )


def _entry(entry: Entry) -> str:
    ours, said = entry.ours, entry.published
    parts = ["–" if ours is None else f"<b>{figure(ours.centre)}</b>"]
    if ours is not None and ours.known:
        parts.append(f"<small>{span(ours)}</small>")
    if said is not None:
        kind = entry.match or "said"
        parts.append(
            f'<small class="{kind}" title="published {wanted(said)}">paper '
            f"{figure(said.value)}{mark(entry.match)}</small>"
        )
    return f"<td>{''.join(parts)}</td>"


def _how(report: Report) -> Iterator[str]:
    facts = report.facts
    this, together = (duration(seconds) for seconds in facts.seconds)
    rows = {
        "runs": f"{facts.done} of {facts.cells} have a result",
        "time": f"{this} for this call; all runs together took {together} of one core",
        "machine": f"{facts.machine}; one thread a run",
        **facts.versions,
    }
    yield '<section id="how">\n<h2>How it was run</h2>\n'
    yield f"<pre>{escape(facts.command)}</pre>\n<dl>\n"
    for name, fact in rows.items():
        yield f"<div><dt>{escape(name)}</dt><dd>{escape(fact)}</dd></div>\n"
    yield "</dl>\n"
    troubles = list(report.told_troubles())
    if troubles:
        yield '<h3>Runs without a result</h3>\n<ul class="lost">\n'
        yield from (f"<li>{escape(trouble)}</li>\n" for trouble in troubles)
        yield "</ul>\n"
    yield "<h3>Sources</h3>\n<ul>\n"
    yield from (f"<li>{escape(source)}</li>\n" for source in report.study.sources)
    yield "</ul>\n</section>\n"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

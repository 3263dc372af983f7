"""The report tells what was asked, measured and found, in one file that needs nothing else."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from driftfold.studies.cells import Form, grid
from driftfold.studies.judging import judge
from driftfold.studies.overview import Overview
from driftfold.studies.values import Values
from driftfold_api.studying.report.facts import Facts
from driftfold_api.studying.report.markdown import to_markdown
from driftfold_api.studying.report.model import Report
from driftfold_api.studying.report.page import to_page
from tests.studies.tiny import LACKING, PLAIN, STUDY, series

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Balance(HTMLParser):
    """Counts on every tag being closed, and keeps what is linked."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def report() -> Report:
    form = Form(seeds=2)
    values = Values(
        {
            ("plain", "weighted", 1): series(0.25, 0.2, 0.2, 0.18),
            ("plain", "weighted", 2): series(0.26, 0.2, 0.2, 0.19),
            ("plain", "plain", 1): series(0.25, 0.24, 0.23, 0.22),
            ("plain", "plain", 2): series(0.26, 0.24, 0.23, 0.23),
        }
    )
    return Report(
        study=STUDY,
        form=form,
        cells=grid(STUDY, form),
        values=values,
        findings=judge(STUDY, values),
        absent={},
        troubles={"cells/lacking/missing-s1": "no gone.npz"},
        facts=Facts("driftfold study tiny", {"driftfold": "1"}, "2 cores", 6, 4, (1.0, 2.0), "now"),
    )


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return to_page(report)


def test_the_page_is_whole_and_needs_nothing_else(page: str) -> None:
    found = Balance()
    found.feed(page)
    assert not found.open
    assert "script" not in found.tags
    assert not [link for link in found.links if not link.startswith("#")]
    assert "url(http" not in page
    assert "@import" not in page


def test_the_page_tells_verdicts_values_and_how_it_was_run(page: str) -> None:
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "holds The first gap is about a quarter." in text
    assert "not tested What was not measured is told." in text
    assert "Two arms of &lt;three&gt; rounds" in page
    assert "A study &amp; its report" in page
    assert "paper 0.200 ✓" in text
    assert "paper 1.00e-9 ✗" in text
    assert "driftfold study tiny" in text
    assert "lacking/missing-s1: no gone.npz" in text
    assert text.index("Verdicts") < text.index("Two arms of") < text.index("How it was run")


def test_curves_take_their_colours_from_the_page(page: str) -> None:
    figures = re.findall(r"<figure>.*?</figure>", page, flags=re.DOTALL)
    assert len(figures) == 1
    assert "var(--curve-0)" in figures[0]
    assert "var(--curve-1)" in figures[0]
    assert not re.findall(r"#(?!000000|ffffff)[0-9a-f]{6}\b", figures[0])
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_summary_says_the_same(report: Report) -> None:
    text = to_markdown(report)
    assert "| The first gap is about a quarter. | **holds** |" in text
    assert "0.185 (0.180 to 0.190)<br>paper 0.200 ✓" in text
    assert "    driftfold study tiny" in text
    assert "no result: lacking/missing-s1: no gone.npz" in text
    assert "Not run: no cell has a result." in text


def test_an_overview_stands_beside_the_experiments(report: Report) -> None:
    rows = (("weights", "weighted"), ("none", "plain"), ("gone", "missing"))
    overview = Overview("Means <from> round 2", "gap", 2, (("three", "plain"),), rows)
    (weights,), (none,), (gone,) = overview.entries(report.values)
    assert weights is not None
    assert none is not None
    assert gone is None
    assert (weights.centre, none.centre) == pytest.approx((0.1925, 0.2275))
    study = replace(
        STUDY,
        overviews=(overview, replace(overview, metric="other")),
        experiments=(replace(PLAIN, drawn=("plain",)), LACKING),
    )
    page, text = (write(replace(report, study=study)) for write in (to_page, to_markdown))
    found = Balance()
    found.feed(page)
    assert not found.open
    assert page.count("<figure>") == 2
    assert page.count('class="key"') == 1  # the arm that is to be drawn
    assert "Means &lt;from&gt; round 2" in page
    assert "## Means <from> round 2\n\n|  | three |\n|---|---|\n| weights | " in text
    assert " (0.190 to 0.195) |\n| none | " in text
    assert "| gone | - |" in text
    assert text.count("Means") == 1  # of the other metric nothing was measured


def test_an_overview_may_show_differences(report: Report) -> None:
    rows = (("weights", "weighted"), ("gone", "missing"))
    columns = (("three", "plain"), ("none", "lacking"))
    whole = Overview("Beside none", "gap", 2, columns, rows, "plain", 100, "linear")
    overview = whole.measured(report.values)
    assert overview.columns == columns[:1]
    (weights,), (gone,) = overview.entries(report.values)
    assert weights is not None
    assert gone is None
    assert weights.centre == pytest.approx(100 * (0.1925 - 0.2275))
    study = replace(STUDY, overviews=(whole,))
    page, text = (write(replace(report, study=study)) for write in (to_page, to_markdown))
    assert page.count("<figure>") == 2
    assert "| weights | -3.50" in text


def test_missing_data_are_told_with_the_experiment(report: Report) -> None:
    absent = replace(report, absent={"lacking": "run 'driftfold data get mnist'"})
    for text in (to_page(absent), to_markdown(absent)):
        assert "driftfold data get mnist" in text

"""What a report tells, before it has any form."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from driftfold.studies.base import Claim, Experiment, Study
from driftfold.studies.cells import Cell, Form, chosen
from driftfold.studies.overview import Overview
from driftfold.studies.values import Values
from driftfold.studies.verdict import Finding, Verdict
from driftfold_api.studying.report.facts import Facts


@dataclass(frozen=True)
class Report:
    """A study, what it measured, and what follows.

    Attributes
    ----------
    study, form, cells
        What was asked for.
    values, findings
        What was measured, and the verdicts.
    absent
        Why experiments were not run, by name: their data are missing.
    troubles
        Why cells have no result, by place.
    facts
        How it was run.
    """

    study: Study
    form: Form
    cells: Sequence[Cell]
    values: Values
    findings: Sequence[tuple[Claim, Finding]]
    absent: Mapping[str, str]
    troubles: Mapping[str, str]
    facts: Facts

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """The experiments of this form."""
        return chosen(self.study, self.form)

    @property
    def tested_first(self) -> list[tuple[Claim, Finding]]:
        """The findings, those that were not tested last."""
        return sorted(self.findings, key=lambda pair: not pair[1].verdict.tested)

    @property
    def tally(self) -> str:
        """How often there is which verdict, in words."""
        counts = Counter(finding.verdict for _, finding in self.findings)
        return ", ".join(f"{counts[v]} × {v}" for v in Verdict if counts[v])

    @property
    def overviews(self) -> list[Overview]:
        """The tables across experiments of which anything was measured."""
        found = (overview.measured(self.values) for overview in self.study.overviews)
        return [overview for overview in found if overview.columns]

    def measured(self, experiment: Experiment) -> bool:
        """Whether any cell of an experiment has a result."""
        return any(key[0] == experiment.name for key in self.values.series)

    def told_troubles(self) -> Iterator[str]:
        """Yield a line for each cell that has no result."""
        for cell in self.cells:
            if cell.place in self.troubles:
                yield f"{cell.name}: {self.troubles[cell.place]}"

    @property
    def form_in_words(self) -> str:
        """Which form of the study it is."""
        if self.form.small:
            return "small form: few seeds, and most experiments smaller than published"
        tier = "full grid" if self.form.full else "core grid"
        return f"{tier}, published sizes"

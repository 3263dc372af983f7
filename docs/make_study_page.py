"""Turns what a study wrote into its page: `studies/STUDY.md`, below what is written there by hand.

Run it as `python docs/make_study_page.py STUDY FOLDER`, where FOLDER is that of the finished study.
All above the marker in the page stays; below it come the verdicts, the tables across experiments,
and of the single experiments those tables that readers look for. Tuning is left out, and so are
tables whose values all stand in those across experiments. FOLDER itself is read only.
"""

import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

MARKER = "<!-- from here on make_study_page.py writes what a finished study says -->"
STUDIES = Path(__file__).parent / "studies"
KEPT = ("accuracy_visits", "worst_decile", "rate", "signal", "cpu")
"""Tables of a single experiment that are kept, of a study that has them."""

MEANS = (
    "Accuracy before the update, in percent",
    "Points above the frozen model, before the update",
)
"""Tables across experiments that come in short, too: sets and shifts alone as columns."""


@dataclass(frozen=True)
class Section:
    """A part of a summary: its heading, and what stands below."""

    title: str
    text: str

    @property
    def name(self) -> str:
        """Of the experiment, or ""."""
        found = re.match(r"\s*`([\w-]+)`:", self.text)
        return found[1] if found else ""


def sections(summary: str) -> Iterator[Section]:
    """Cut a summary at its headings of the second order; what is before has no title."""
    first, *others = re.split(r"^## ", summary, flags=re.MULTILINE)
    yield Section("", first.partition("\n")[2])  # the page has a title of its own
    for one in others:
        title, _, text = one.partition("\n")
        yield Section(title, text)


def thinned(text: str, kept: Collection[str] = KEPT) -> str:
    """Leave out tables of other metrics, if any of `kept` is there; the rest stays as it is."""
    blocks = text.split("\n\n")
    metrics = [re.match(r"\s*\| (\w+) after round", block) for block in blocks]
    if not any(found and found[1] in kept for found in metrics):
        return text
    pairs = zip(blocks, metrics, strict=True)
    return "\n\n".join(block for block, found in pairs if not found or found[1] in kept)


def grouped(table: str) -> str:
    """Means over the columns of a table that are called alike up to the last comma.

    Where some of a group's entries are missing there is no mean.
    """
    head, _, *lines = (line.strip("| ").split(" | ") for line in table.strip().splitlines())
    groups = [name.rpartition(", ")[0] for name in head]
    names = list(dict.fromkeys(groups))
    made = [f"|  | {' | '.join(names)} |", f"|{'---|' * (len(names) + 1)}"]
    for arm, *entries in lines:
        values: dict[str, list[float | None]] = {name: [] for name in names}
        for group, entry in zip(groups, entries, strict=True):
            values[group].append(None if entry == "-" else float(entry.split()[0]))
        made.append(f"| {arm} | {' | '.join(_mean(values[name]) for name in names)} |")
    return "\n".join(made)


def _mean(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known) / len(known):.3g}" if len(known) == len(values) else "-"


def without_places(text: str) -> str:
    """Leave out where on whose machine the study was run.

    >>> without_places("driftfold study pca --jobs 2 --folder results --data '/a b/c'")
    'driftfold study pca --jobs 2 --data FOLDER'
    """
    text = re.sub(r" --folder ('[^']*'|\S+)", "", text)
    return re.sub(r" --data ('[^']*'|\S+)", " --data FOLDER", text)


def page(head: str, summary: str, grids: Collection[str] = ()) -> str:
    """The page: the head that was written by hand, the marker, and what a summary tells.

    `grids` are experiments whose values stand in the tables across experiments.
    """
    parts = [head.rstrip(), MARKER]
    left_out = 0
    for section in sections(summary):
        if section.title in MEANS:
            table = section.text.strip().partition("\n\n")[0]
            parts.append(
                f"## {section.title}; means over the schedules that were run\n\n{grouped(table)}"
            )
        if section.name.startswith("tune-") or section.name in grids:
            left_out += 1
            continue
        text = thinned(section.text) if section.name else section.text
        title = f"## {section.title}\n" if section.title else ""
        parts.append(f"{title}{text.rstrip()}" if title else text.strip())
    if left_out:
        told = f"{left_out} that tune, or stand in the tables across, have none here."
        parts.insert(3, f"Of tables of single experiments the most telling are shown; {told}")
    return without_places("\n\n".join(parts)) + "\n"


def main(study: str, folder: Path) -> None:
    """Write the page of a study."""
    from driftfold.studies import get_study  # slow, and nothing that is tested needs it

    place = STUDIES / f"{study}.md"
    head, marker, _ = place.read_text(encoding="utf-8").partition(MARKER)
    if not marker:
        sys.exit(f"{place} lacks the line {MARKER!r}, below which the page is made; write it there")
    across = (one for one in get_study(study).overviews if one.metric == KEPT[0])
    columns = {name for one in across for _, name in one.columns}
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    place.write_text(page(head, summary, columns), encoding="utf-8")
    print(place)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))

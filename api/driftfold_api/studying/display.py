"""Progress of a study on standard error: bars on a terminal, a line a cell in a log."""

import sys
from types import TracebackType
from typing import Self

from driftfold.studies.cells import Cell
from driftfold.studies.crew import Ended, Event
from driftfold.studies.outlook import Outlook
from driftfold_api.progress import duration


class Display:
    """Shows nothing; subclasses show what the outlook tells."""

    def __init__(self, outlook: Outlook) -> None:
        self.outlook = outlook

    def take(self, event: Event[Cell]) -> None:
        """Show what happened; the outlook has taken note of it already."""

    def say(self, sentence: str) -> None:
        """Say something on a line of its own."""
        print(sentence, file=sys.stderr, flush=True)

    @property
    def ahead(self) -> str:
        """When the end is expected, in words."""
        left = self.outlook.left()
        return "" if left is None else f"about {duration(left)} left"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the line."""


class Bars(Display):
    """One bar for the study, and one for each cell that runs."""

    def __init__(self, outlook: Outlook) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TextColumn

        super().__init__(outlook)
        self._bars = Progress(
            TextColumn("{task.fields[title]}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            refresh_per_second=4,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        self._all = self._bars.add_task("", total=max(self.outlook.total, 1), title="cells")
        self._draw()
        return self

    def take(self, event: Event[Cell]) -> None:
        """Move the bars."""
        cell = event.key
        if cell.place not in self._tasks:
            self._tasks[cell.place] = self._bars.add_task("", total=1.0, title=cell.name)
        if isinstance(event, Ended):
            self._bars.remove_task(self._tasks.pop(cell.place))
            if event.outcome.ended not in ("done", "stopped"):
                self.say(f"{cell.name}: {event.outcome.about}")
        else:
            share = self.outlook.running.get(cell.place, 0.0)
            self._bars.update(self._tasks[cell.place], completed=share)
        self._draw()

    def say(self, sentence: str) -> None:
        """Say something above the bars."""
        self._bars.console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Leave the bars as they are."""
        for task in self._tasks.values():
            self._bars.remove_task(task)
        self._bars.stop()

    def _draw(self) -> None:
        outlook = self.outlook
        done = outlook.done + sum(outlook.running.values())
        words = f"{outlook.done}/{outlook.total}  {self.ahead}".rstrip()
        self._bars.update(self._all, completed=done, description=words)


class Lines(Display):
    """One line for each cell that is over."""

    def take(self, event: Event[Cell]) -> None:
        """Print a line when a cell ends."""
        if isinstance(event, Ended):
            outcome = event.outcome
            how = f"{outcome.seconds:.1f} s" if outcome.ended == "done" else outcome.about
            parts = [f"[{self.outlook.done}/{self.outlook.total}] {event.key.name}: {how}"]
            self.say("; ".join([*parts, *([self.ahead] if self.ahead else [])]))


def display(outlook: Outlook, quiet: bool) -> Display:
    """Return the form that suits standard error."""
    if quiet or not outlook.total:
        return Display(outlook)
    return Bars(outlook) if sys.stderr.isatty() else Lines(outlook)

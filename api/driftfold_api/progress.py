"""Progress of a run on standard error: a bar on a terminal, lines in a log."""

import sys
from collections.abc import Mapping
from time import perf_counter
from types import TracebackType
from typing import Self

from driftfold.telemetry.base import Record, RecordSink
from driftfold.world.policy import Horizon

_SHOWN = 2
_REDRAW = 0.1


class Progress(RecordSink):
    """What has been reached so far, as records tell it; subclasses show it."""

    def __init__(self, horizon: Horizon) -> None:
        self.horizon = horizon
        self.rounds = 0
        self.time = 0.0
        self.metrics: Mapping[str, float] = {}
        self.measured = 0
        self.begun = False
        self._timed = 0
        self._wall = 0.0

    def emit(self, record: Record) -> None:
        """Take note of a record."""
        self.rounds, self.time = record.version, record.time
        self.begun = True
        # The run's own clock: records may come late, and many at once.
        if record.kind == "round" and "wall" in record.timing:
            self._timed += 1
            self._wall += record.timing["wall"]
        if record.kind == "evaluation":
            self.metrics, self.measured = record.values, record.version
        self.show()

    def rewind(self, seq: int) -> None:
        """Begin to count where a resumed run begins."""
        self.begun, self._timed, self._wall = False, 0, 0.0

    def show(self) -> None:
        """Show the present state. Default: nothing."""

    def say(self, sentence: str) -> None:
        """Say something on a line of its own."""
        print(sentence, file=sys.stderr, flush=True)

    @property
    def share(self) -> float:
        """Share of the horizon that was reached, 0 to 1."""
        shares = [0.0]
        if self.horizon.rounds is not None:
            shares.append(self.rounds / self.horizon.rounds)
        if self.horizon.seconds is not None:
            shares.append(self.time / self.horizon.seconds)
        return min(1.0, max(shares))

    @property
    def text(self) -> str:
        """Rounds, virtual time, speed, and metrics: of which round, if not of this one."""
        of = "" if self.horizon.rounds is None else f"/{self.horizon.rounds}"
        parts = [f"round {self.rounds}{of}", f"{duration(self.time)} virtual"]
        if self._wall > 0:
            rate = self._timed / self._wall
            parts.append(f"{rate:.0f} rounds/s" if rate >= 10 else f"{rate:.2g} rounds/s")
        parts += [f"{name} {value:.4g}" for name, value in list(self.metrics.items())[:_SHOWN]]
        if self.metrics and self.measured != self.rounds:
            parts[-1] += f" (round {self.measured})"
        return "  ".join(parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Bar(Progress):
    """A bar that is redrawn in place."""

    def __init__(self, horizon: Horizon, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as RichProgress

        super().__init__(horizon)
        self._bar = RichProgress(
            TextColumn("{task.fields[title]}", markup=False),
            BarColumn(bar_width=20),
            TaskProgressColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=1.0, title=title)
        self._drawn = 0.0

    def show(self) -> None:
        """Redraw, but not so often that it would slow the run."""
        if perf_counter() - self._drawn >= _REDRAW:
            self._draw()

    def say(self, sentence: str) -> None:
        """Say something above the bar."""
        self._bar.console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def close(self) -> None:
        """Draw the last state and leave the line."""
        self._draw()
        self._bar.stop()

    def _draw(self) -> None:
        self._bar.update(self._task, completed=self.share, description=self.text)
        self._bar.refresh()
        self._drawn = perf_counter()


class Lines(Progress):
    """One line for each tenth of the run, for logs and pipes."""

    def __init__(self, horizon: Horizon) -> None:
        super().__init__(horizon)
        self._told = 0
        self._due = False

    def emit(self, record: Record) -> None:
        """Print a line when another tenth is done, and its last round's evaluation is known."""
        if self._due and record.version > self.rounds:  # it has none
            self._print()
        super().emit(record)
        if self._due and record.kind == "evaluation":
            self._print()

    def show(self) -> None:
        """Note when another tenth is done."""
        tenth = int(10 * self.share)
        if self._told < tenth < 10:
            self._told, self._due = tenth, True

    def close(self) -> None:
        """Print where the run ended, with its last evaluation."""
        if self._told < 10 and self.begun:
            self._told = 10
            self._print()

    def _print(self) -> None:
        self._due = False
        print(self.text, file=sys.stderr, flush=True)


def progress(horizon: Horizon, title: str, quiet: bool) -> Progress:
    """Return the form that suits standard error."""
    if quiet:
        return Progress(horizon)
    return Bar(horizon, title) if sys.stderr.isatty() else Lines(horizon)


def duration(seconds: float) -> str:
    """Virtual time in the unit that suits it.

    >>> duration(0.5), duration(5400), duration(200_000)
    ('0.5 s', '1.5 h', '2.31 d')
    """
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"

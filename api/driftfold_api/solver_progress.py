"""Progress of a solver on standard error, and what it has found when it is interrupted."""

import sys
from time import perf_counter
from types import TracebackType
from typing import Literal, Self

from driftfold.solvers.base import Iterate

_REDRAW = 0.25
_CLEAR = "\r\x1b[K"

Form = Literal["none", "end", "live"]
"""Say nothing; one line at the end, for logs and pipes; a line that is redrawn in place."""


class SolverProgress:
    """Follows a solver's path, and keeps the iterate with the smallest value."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.best: Iterate | None = None
        self.iterations = -1
        self._last: Iterate | None = None
        self._drawn = 0.0

    def __call__(self, iterate: Iterate) -> None:
        """Take note of the next iterate; redraw, but not so often that it would slow the solver."""
        self.iterations += 1
        self._last = iterate
        if self.best is None or iterate.value < self.best.value:
            self.best = iterate
        if self.form == "live" and perf_counter() - self._drawn >= _REDRAW:
            self._write(f"{_CLEAR}{self.text}")
            self._drawn = perf_counter()

    @property
    def text(self) -> str:
        """Iteration, value and length of the gradient in words."""
        if self._last is None:
            return "loading the data"
        last = self._last
        return (
            f"iteration {self.iterations}  value {last.value:.8g}  "
            f"gradient norm {last.gradient_norm:.3g}"
        )

    def __enter__(self) -> Self:
        if self.form == "live":
            self._write(self.text)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.form == "live":
            self._write(_CLEAR)
        elif self.form == "end" and self._last is not None:
            self._write(f"{self.text}\n")

    @staticmethod
    def _write(text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)


def solver_progress(as_json: bool) -> SolverProgress:
    """Return the form that suits standard error."""
    if as_json:
        return SolverProgress("none")
    return SolverProgress("live" if sys.stderr.isatty() else "end")

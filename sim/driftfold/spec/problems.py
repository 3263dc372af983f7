"""The problems of one specification, collected so that all are told at once."""

from typing import Any

from driftfold.errors import SpecError, UnknownKind

_MOST = 8
_WIDTH = 60


class Problems:
    """Problems in the order they were found, one line each.

    >>> problems = Problems()
    >>> problems.add("horizon.rounds", "got -1, wanted a whole number above 0")
    >>> problems.raise_if_any()
    Traceback (most recent call last):
    driftfold.errors.SpecError: horizon.rounds: got -1, wanted a whole number above 0
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._unknown = False

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, path: str, sentence: str, unknown: bool = False) -> None:
        """Note one problem at a dotted path; `unknown` when a kind or field is not known."""
        self._lines.append(f"{path}: {sentence}" if path else sentence)
        self._unknown |= unknown

    def extend(self, others: "Problems") -> None:
        """Take over the problems of another collection."""
        self._lines += others._lines
        self._unknown |= others._unknown

    def raise_if_any(self) -> None:
        """Raise `UnknownKind` or `SpecError` with one line a problem, if there are problems."""
        if not self._lines:
            return
        lines = self._lines[:_MOST]
        if len(self._lines) > _MOST:
            lines.append(f"... and {len(self._lines) - _MOST} more problems")
        raise (UnknownKind if self._unknown else SpecError)("\n".join(lines))


def join(path: str, name: str) -> str:
    """Path of field `name` of the table at `path`."""
    return f"{path}.{name}" if path else name


def shown(value: Any) -> str:
    """Value as an error shows it: one line of bounded length."""
    try:
        text = repr(value)
    except ValueError:  # integers beyond Python's limit of digits
        text = f"a number of {value.bit_length()} bits"
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."

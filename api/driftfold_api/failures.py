"""What a failure looks like to the person at the terminal: one clear line, and an exit code."""

import os
import sys
import tempfile
import traceback
from enum import IntEnum
from typing import Any

from driftfold.errors import DataError, DriftfoldError, SpecError
from driftfold_api.errors import RequestError

_MEANT = {("driftfold solve", "--solver"): "--method"}


class Outcome(IntEnum):
    """Exit codes."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    INTERRUPTED = 130


def tell(error: BaseException, debug: bool) -> int:
    """Say on standard error what went wrong, and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else Outcome.FAILED
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has gone; Python must not fail again as it flushes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Outcome.FAILED
    lines, outcome = _words(error, debug)
    for line in lines:
        print(line, file=sys.stderr)
    if debug:
        traceback.print_exception(error)
    return outcome


def _words(error: BaseException, debug: bool) -> tuple[list[str], int]:
    if isinstance(error, KeyboardInterrupt):
        return ["interrupted"], Outcome.INTERRUPTED
    if isinstance(error, SpecError | DataError | RequestError):
        return [f"error: {line}" for line in str(error).splitlines()], Outcome.BAD_INPUT
    if isinstance(error, DriftfoldError):
        return [f"error: {_one_line(error)}"], Outcome.FAILED
    usage = _usage(error)
    if usage:
        return [f"error: {usage}; see {_command(error)} --help"], Outcome.BAD_INPUT
    if isinstance(error, MemoryError):
        return [f"error: out of memory: {_one_line(error)}"], Outcome.FAILED
    cause = f"error: {type(error).__name__}: {_one_line(error)}"
    if debug:
        return [cause], Outcome.FAILED
    return [f"{cause}; the traceback is in {_keep(error)}"], Outcome.FAILED


def _usage(error: Any) -> str:
    """Sentence of an error in the arguments, or "".

    Typer raises click's errors, or those of a copy of click inside it, depending on its version.
    """
    sentence = getattr(error, "format_message", None)
    if not callable(sentence):
        return ""
    # Other words for an option are nowhere near it in spelling.
    meant = _MEANT.get((_command(error), getattr(error, "option_name", "")))
    if meant is not None:
        return f"No such option: {error.option_name} (it is {meant} here)"
    return " ".join(str(sentence()).split()).rstrip(".")


def _command(error: Any) -> str:
    """Name of the command whose arguments are wrong, as in "driftfold run"."""
    return getattr(getattr(error, "ctx", None), "command_path", "driftfold")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or "no reason given"


def _keep(error: BaseException) -> str:
    with tempfile.NamedTemporaryFile(
        "w", prefix="driftfold-error-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        traceback.print_exception(error, file=file)
    return file.name

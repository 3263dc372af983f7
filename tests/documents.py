"""Documents that run: the blocks of a Markdown file, and transcripts of the terminal.

- A ``python`` block runs in a process of its own; a ``text`` block right after it is its output.
- In a ``console`` block the lines after ``$ `` are commands and the others are their output.
- ``<!-- file: NAME -->`` right before a block writes the block to that file instead.
- ``<!-- not run: the reason -->`` right before a block leaves it out.
- Output is what goes to standard output, compared as doctest does: ``...`` stands for anything,
  white space counts as one.

The blocks of one document run in order and in one folder, so that a later block finds the files of
an earlier one, and a copy of ``examples``.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

from tests import forking
from tests.modules import ROOT

LANGUAGES = ("python", "console", "toml", "yaml", "json")
_FENCES = "|".join(LANGUAGES)
_BLOCK = re.compile(
    r"(?:<!-- (?P<marker>not run|file): (?P<about>[^\n]+?) -->\n+)?"
    rf"^```(?P<language>{_FENCES})\n(?P<code>.*?)^```$"
    r"(?:\n+```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_COMMANDS = ("driftfold", "python")


@dataclass(frozen=True)
class Command:
    """Something to run, and what it must print (None: anything)."""

    words: tuple[str, ...]
    output: str | None = None


@dataclass(frozen=True)
class Block:
    """One fenced block: where it begins, and what it asks for."""

    where: str
    language: str
    code: str
    output: str | None = None
    marker: str | None = None
    about: str = ""


def blocks(text: str, name: str = "text") -> list[Block]:
    """Return every block whose language this file knows, in order."""
    found = []
    for match in _BLOCK.finditer(text):
        line = text[: match.start("code")].count("\n")
        found.append(
            Block(
                where=f"{name}, line {line}",
                language=match["language"],
                code=match["code"],
                output=match["output"],
                marker=match["marker"],
                about=match["about"] or "",
            )
        )
    return found


def fences(text: str) -> int:
    """Count the fences that open a block in a known language, however they are marked."""
    return len(re.findall(rf"^```(?:{_FENCES})$", text, re.MULTILINE))


def transcript(text: str) -> Iterator[Command]:
    """Cut a transcript of the terminal into commands and their output."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        words = tuple(shlex.split(line))
        if not words or words[0] not in _COMMANDS:
            raise ValueError(f"cannot run {line!r}; mark the block <!-- not run: why -->")
        yield Command(words, printed or None)


def commands(block: Block) -> Iterator[Command]:
    """Return what a block runs."""
    if block.language == "python":
        yield Command(("python", "-c", block.code), block.output)
    elif block.language == "console":
        yield from transcript(block.code)
    else:
        raise ValueError(
            f"{block.where}: {block.language} does not run; mark it <!-- file: NAME --> or "
            "<!-- not run: why -->"
        )


def prepare(folder: Path) -> Path:
    """Put a copy of the examples where documents expect it."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=ignore)
    return folder


def execute(command: Command, folder: Path, where: str) -> None:
    """Run a command in `folder`; fail unless it succeeds and prints what it should."""
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    done = forking.run(command.words, folder, {**os.environ, "PATH": path, "COLUMNS": "80"})
    shown = shlex.join(command.words)
    assert done.returncode == 0, f"{where}: {shown}\n{done.stderr}"
    if command.output is not None:
        same = OutputChecker().check_output(
            command.output, done.stdout, ELLIPSIS | NORMALIZE_WHITESPACE
        )
        assert same, f"{where} says:\n{command.output}\n{shown} printed:\n{done.stdout}"


def execute_block(block: Block, folder: Path) -> None:
    """Do what one block asks for."""
    if block.marker == "file":
        (folder / block.about).write_text(block.code, encoding="utf-8")
    elif block.marker is None:
        for command in commands(block):
            execute(command, folder, block.where)


def execute_document(path: Path, folder: Path) -> None:
    """Run all blocks of a Markdown file in `folder`, in order."""
    prepare(folder)
    for block in blocks(path.read_text(encoding="utf-8"), path.name):
        execute_block(block, folder)

"""Every block of code in README.md runs, and prints what the README says it prints.

- A ``python`` block runs in a new interpreter; a ``text`` block right after it is its output.
- In a ``console`` block the lines after ``$ `` are commands and the others are their output.
- Output is compared as doctest does: ``...`` stands for anything, white space counts as one.
- ``<!-- not run: the reason -->`` right before a block leaves it out.
"""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"^```(?P<language>python|console)\n(?P<code>.*?)^```$"
    r"(?:\n+```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
SECONDS = 120.0  # not a measure of speed: ends a block that hangs


@dataclass(frozen=True)
class Step:
    """One thing to run: the command, what it prints (None: not compared), what it imports."""

    command: tuple[str, ...]
    output: str | None
    modules: frozenset[str]


def steps(language: str, code: str, output: str | None) -> list[Step]:
    if language == "python":
        return [Step((sys.executable, "-c", code), output, imported(code))]
    found = []
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        words = tuple(command.split())
        if words[0] != "driftfold":
            raise ValueError(f"README runs {words[0]!r}; mark the block <!-- not run: why -->")
        found.append(Step(words, printed or None, frozenset({"driftfold_api.command"})))
    return found


def imported(code: str) -> frozenset[str]:
    modules = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    return frozenset(name for name in modules if name.split(".")[0].startswith("driftfold"))


def run(step: Step, folder: Path) -> None:
    scripts = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        step.command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, f"{step.command}:\n{done.stderr}"
    if step.output is not None:
        same = OutputChecker().check_output(
            step.output, done.stdout, ELLIPSIS | NORMALIZE_WHITESPACE
        )
        assert same, f"README says:\n{step.output}\n{step.command} printed:\n{done.stdout}"


def blocks(text: str) -> list[re.Match[str]]:
    return list(BLOCK.finditer(text))


BLOCKS = [
    pytest.param(block, id=f"line-{README.read_text()[: block.start('code')].count(chr(10))}")
    for block in blocks(README.read_text())
    if not block["reason"]
]


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs_and_prints_what_it_says(block: re.Match[str], tmp_path: Path) -> None:
    for step in steps(block["language"], block["code"], block["output"]):
        for module in sorted(step.modules):
            if importlib.util.find_spec(module) is None:
                pytest.skip(f"{module} does not exist yet")
        run(step, tmp_path)


def test_every_fence_is_understood() -> None:
    """A block that this file cannot parse would silently never run."""
    fences = re.findall(r"^```(?:python|console)$", README.read_text(), re.MULTILINE)
    assert len(blocks(README.read_text())) == len(fences) > 0


def test_a_wrong_output_and_a_failing_command_are_noticed(tmp_path: Path) -> None:
    (right,) = steps("python", "print(1, 2.5)", "1 ...")
    run(right, tmp_path)
    (wrong,) = steps("python", "print(1)", "2")
    with pytest.raises(AssertionError, match="README says"):
        run(wrong, tmp_path)
    (failing,) = steps("python", "raise SystemExit('no')", None)
    with pytest.raises(AssertionError, match="no"):
        run(failing, tmp_path)


def test_marked_blocks_and_outputs_are_told_apart() -> None:
    text = (
        "<!-- not run: it needs a network -->\n```console\n$ driftfold serve\n```\n\n"
        "```python\nimport driftfold\n```\n\n```text\nhello\n```\n"
    )
    marked, plain = blocks(text)
    assert marked["reason"] == "it needs a network"
    assert plain["reason"] is None
    assert plain["output"] == "hello\n"


def test_console_block_is_cut_into_commands_and_outputs() -> None:
    first, second = steps("console", "$ driftfold kinds\npca\n$ driftfold validate x.toml\n", None)
    assert first.command == ("driftfold", "kinds")
    assert first.output == "pca\n"
    assert second.output is None
    with pytest.raises(ValueError, match="mark the block"):
        steps("console", "$ make demo\n", None)

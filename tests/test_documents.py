"""The machinery that runs documents notices what is wrong with one."""

from pathlib import Path

import pytest

from tests.documents import Command, blocks, commands, execute, execute_block, fences, transcript

TEXT = """\
<!-- not run: it needs a network -->
```console
$ driftfold serve
```

<!-- file: number.txt -->
```json
7
```

```python
print(int(open("number.txt").read()) + 0.5)
```

```text
7...
```
"""


def test_markers_outputs_and_places_are_told_apart() -> None:
    left_out, file, code = blocks(TEXT, "guide.md")
    assert (left_out.marker, left_out.about) == ("not run", "it needs a network")
    assert (file.marker, file.about, file.code) == ("file", "number.txt", "7\n")
    assert (code.marker, code.output, code.where) == (None, "7...\n", "guide.md, line 11")
    assert fences(TEXT) == 3


def test_blocks_run_in_order_and_find_the_files_of_earlier_ones(tmp_path: Path) -> None:
    for block in blocks(TEXT):
        execute_block(block, tmp_path)
    assert (tmp_path / "number.txt").read_text() == "7\n"


def test_a_wrong_output_and_a_failing_command_are_noticed(tmp_path: Path) -> None:
    program = ("python", "-c", "print(1, 2.5)")
    execute(Command(program, "1 ..."), tmp_path, "here")
    with pytest.raises(AssertionError, match="here says"):
        execute(Command(program, "1 3"), tmp_path, "here")
    with pytest.raises(AssertionError, match="not today"):
        execute(Command(("python", "-c", "raise SystemExit('not today')")), tmp_path, "here")


def test_a_warning_is_a_failure(tmp_path: Path) -> None:
    program = "import warnings; warnings.warn('old', DeprecationWarning)"
    with pytest.raises(AssertionError, match="DeprecationWarning"):
        execute(Command(("python", "-c", program)), tmp_path, "here")


def test_a_transcript_is_cut_into_commands_and_outputs() -> None:
    first, second = transcript("$ driftfold kinds\npca\n$ driftfold validate 'my x.toml'\n")
    assert first == Command(("driftfold", "kinds"), "pca\n")
    assert second == Command(("driftfold", "validate", "my x.toml"), None)


def test_what_cannot_run_must_be_marked() -> None:
    with pytest.raises(ValueError, match="mark the block"):
        list(transcript("$ make demo\n"))
    (block,) = blocks("```toml\nseed = 1\n```\n")
    with pytest.raises(ValueError, match="mark it"):
        list(commands(block))

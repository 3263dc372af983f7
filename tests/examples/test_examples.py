"""Every example runs and prints what the transcript beside it says.

`NAME.expected` is a transcript of the terminal for the example `NAME`; `NAME.slow.expected` is one
that takes more than a few seconds. Numbers are written with the digits that hold on any processor.
"""

from pathlib import Path

import pytest

from driftfold.spec import load_spec
from tests.documents import execute, prepare, transcript
from tests.modules import ROOT

EXAMPLES = ROOT / "examples"
TRANSCRIPTS = [
    pytest.param(path, id=path.name, marks=pytest.mark.slow if ".slow." in path.name else ())
    for path in sorted(EXAMPLES.glob("*.expected"))
]


@pytest.mark.parametrize("expected", TRANSCRIPTS)
def test_the_example_prints_what_it_should(expected: Path, tmp_path: Path) -> None:
    steps = list(transcript(expected.read_text(encoding="utf-8")))
    example = f"examples/{expected.name.removesuffix('.expected').removesuffix('.slow')}"
    assert any(example in step.words for step in steps)
    assert all(step.output for step in steps)
    prepare(tmp_path)
    for step in steps:
        execute(step, tmp_path, expected.name)


def test_every_example_has_a_transcript() -> None:
    examples = {path.name for kind in ("*.py", "*.toml") for path in EXAMPLES.glob(kind)}
    told = {path.name.removesuffix(".expected") for path in EXAMPLES.glob("*.expected")}
    assert len(examples) > 3
    assert examples == {name for name in told if not name.endswith(".slow")}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_a_specification_says_what_it_is(path: Path) -> None:
    load_spec(path)
    assert path.read_text(encoding="utf-8").startswith("# ")

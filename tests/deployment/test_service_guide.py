"""The examples in docs/service.md that need a service, against one."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import pytest

from tests.documents import blocks
from tests.modules import ROOT

GUIDE = ROOT / "docs" / "service.md"
REASON = f"needs a service; {Path(__file__).relative_to(ROOT)} runs it against one"
MARK = "-- end of a command --"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where a service of the test's own is, as HOST:PORT."""
    words = [*("serve", "--runs", str(tmp_path / "runs"), "--port", "0", "--json")]
    environment = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    with subprocess.Popen(
        [sys.executable, "-m", "driftfold_api.command", *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as service:
        assert service.stdout is not None
        try:
            url = json.loads(service.stdout.readline())["url"]
            yield url.removeprefix("http://")
        finally:
            service.terminate()


def commands() -> list[tuple[str, str]]:
    """Each command of the guide's examples, and what it must print."""
    marked = [block for block in blocks(GUIDE.read_text("utf-8")) if block.about == REASON]
    assert len(marked) > 5
    parts = [part for block in marked for part in re.split(r"^\$ ", block.code, flags=re.M)[1:]]
    return [(line, printed) for line, _, printed in (part.partition("\n") for part in parts)]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_examples_print_what_the_guide_says(address: str, tmp_path: Path) -> None:
    told = commands()
    lines = [line.replace("localhost:8000", address) for line, _ in told]
    script = "".join(f"{line}\necho; echo '{MARK}'\n" for line in lines)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-eu", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "no_proxy": "*"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    outputs = done.stdout.split(f"{MARK}\n")[:-1]
    assert len(outputs) == len(told)
    for (line, wanted), printed in zip(told, outputs, strict=True):
        same = OutputChecker().check_output(
            wanted.strip() + "\n", printed.strip() + "\n", ELLIPSIS | NORMALIZE_WHITESPACE
        )
        assert same, f"{line}\nprinted:\n{printed}\nwanted:\n{wanted}"

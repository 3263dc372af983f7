"""The lock files fit pyproject.toml, and name nothing that only one machine has."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def name_of(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def pins(file: str) -> dict[str, str]:
    lines = (ROOT / file).read_text().splitlines()
    pinned = [line for line in lines if line and not line.lstrip().startswith("#")]
    return {name_of(line): line.partition("==")[2].partition(";")[0].strip() for line in pinned}


@pytest.fixture
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_runtime_dependencies_are_locked(pyproject: dict[str, Any]) -> None:
    wanted = {name_of(line) for line in pyproject["project"]["dependencies"]}
    assert wanted <= pins("requirements.lock").keys()


def test_tools_are_locked_over_the_same_runtime(pyproject: dict[str, Any]) -> None:
    locked = pins("requirements-dev.lock")
    tools = pyproject["project"]["optional-dependencies"]["dev"]
    wanted = [*tools, *pyproject["build-system"]["requires"]]
    assert {name_of(line) for line in wanted} <= locked.keys()
    assert pins("requirements.lock").items() <= locked.items()


@pytest.mark.parametrize("file", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_fits_every_machine(file: str) -> None:
    text = (ROOT / file).read_text()
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", version) for version in pins(file).values())
    assert "://" not in text
    assert "--" not in text  # no option: an index, a hash, a link to a folder
    # torch's own requirements name these where they are needed; pinned here, a CPU build breaks
    assert not [name for name in pins(file) if name.startswith("nvidia") or name == "triton"]

"""Rules of the house that no other tool checks: size of files, what an import brings along."""

import importlib
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from tests.modules import PACKAGES, ROOT, module_names

LIMIT = 400  # lines: what can be read in one sitting
FOLDERS = ("sim", "api", "workers", "tests", "examples", "bench")
HEAVY = {"torch", "geoopt", "matplotlib", "scipy", "pandas"}
SERVICE = {"fastapi", "starlette", "uvicorn", "redis", "sqlalchemy", "typer", "rich"}


def line_counts() -> dict[Path, int]:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    counts = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    return {path: count for path, count in counts.items() if count}


def test_no_file_is_too_long() -> None:
    counts = line_counts()
    assert len(counts) > 50, "the folders have moved"
    print(f"{len(counts)} files, median {statistics.median(counts.values()):.0f} lines")
    long = {str(path.relative_to(ROOT)): n for path, n in counts.items() if n > LIMIT}
    assert not long, f"split by concept: {long}"


def test_import_contracts() -> None:
    lint = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    done = subprocess.run(
        [*lint, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def brought_along(*names: str) -> set[str]:
    """Return the top-level packages that importing `names` brings into a fresh interpreter."""
    code = (
        "import importlib, json, sys\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *names], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_library_imports_nothing_heavy_and_nothing_of_the_service() -> None:
    assert not brought_along(*module_names("driftfold")) & (HEAVY | SERVICE)


def test_the_package_itself_imports_next_to_nothing() -> None:
    assert not brought_along("driftfold") & (HEAVY | SERVICE | {"numpy", "pydantic", "asyncio"})


def test_the_kernel_imports_the_standard_library_only() -> None:
    known = sys.stdlib_module_names | {"driftfold"}
    plain = brought_along("json")  # what site hooks of this environment bring in anyway
    assert brought_along(*module_names("driftfold.kernel")) - plain <= known


def test_the_command_imports_nothing_heavy() -> None:
    if "driftfold_api" in PACKAGES:
        assert not brought_along(*module_names("driftfold_api")) & HEAVY


EXPORTING = [name for name in module_names() if hasattr(importlib.import_module(name), "__all__")]


@pytest.mark.parametrize("name", EXPORTING)
def test_what_a_module_exports_is_complete(name: str) -> None:
    module = importlib.import_module(name)
    exported: list[str] = module.__all__
    assert len(set(exported)) == len(exported)
    assert all(hasattr(module, export) for export in exported)
    ours = {
        own
        for own, value in vars(module).items()
        if not own.startswith("_")
        and str(getattr(value, "__module__", "")).partition(".")[0] in PACKAGES
    }
    if hasattr(module, "__path__"):  # a package's __init__ imports nothing but what it exports
        assert ours <= set(exported)
    else:
        assert {own for own in ours if vars(module)[own].__module__ == name} <= set(exported)

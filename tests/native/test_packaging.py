"""What is built from a checkout: a wheel with kernels, a wheel without, a source archive."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.modules import ROOT

PARTS = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore", "sim", "api")
INSIDE = "driftfold/native/kernels.shared"
TAKEN = shutil.ignore_patterns("__pycache__", "kernels.shared")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    place = tmp_path / "checkout"
    place.mkdir()
    for name in (*PARTS, "workers", "requirements.lock"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=TAKEN)
        else:
            shutil.copy(source, place / name)
    return place


def build(checkout: Path, hook: str, **environment: str) -> Path:
    """Run one hook of the build backend, as an installer does, and return what it made."""
    code = f"import hatchling.build as b, sys; print(b.{hook}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(checkout / "dist")],
        cwd=checkout,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return checkout / "dist" / done.stdout.split()[-1]


def test_without_a_compiler_the_wheel_is_pure(checkout: Path) -> None:
    wheel = build(checkout, "build_wheel", CC="no-such-compiler")
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert INSIDE not in names
    assert "driftfold/native/pca_gram.c" in names
    assert "driftfold/native/descent.h" in names


def test_the_source_archive_can_build_kernels(checkout: Path) -> None:
    archive = build(checkout, "build_sdist")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"hatch_build.py", "sim/driftfold/native/pca_gram.c"} <= names
    assert not [name for name in names if name.endswith("kernels.shared")]


def test_an_editable_install_without_a_compiler_succeeds(checkout: Path) -> None:
    build(checkout, "build_editable", CC="no-such-compiler")
    assert not (checkout / "sim" / INSIDE).exists()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
def test_with_a_compiler_the_wheel_has_a_platform(checkout: Path) -> None:
    wheel = build(checkout, "build_wheel")
    assert "-py3-none-any" not in wheel.name
    archive = zipfile.ZipFile(wheel)
    assert INSIDE in archive.namelist()
    archive.extractall(checkout / "installed")
    code = "from driftfold.native import library; print(library().identity, library().path)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout / "installed")},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert str(checkout) in done.stdout

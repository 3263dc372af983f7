"""A library that is missing, stale, broken or not wanted is no error."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from driftfold.native import (
    SWITCH,
    Descender,
    Kernel,
    Library,
    Missing,
    building,
    library,
    open_library,
)
from driftfold.native import __main__ as command

needs_library = pytest.mark.skipif(
    not isinstance(library(), Library), reason="there is no library of kernels here"
)
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler here"
)


def test_a_missing_library_says_what_to_do(tmp_path: Path) -> None:
    found = open_library(tmp_path / "kernels.shared")
    assert isinstance(found, Missing)
    assert f"{sys.executable} -m driftfold.native" in found.remedy
    assert found.identity is None


def test_a_switch_that_is_neither_on_nor_off_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "maybe")
    found = open_library(building.LIBRARY)
    assert isinstance(found, Missing)
    assert found.reason == "DRIFTFOLD_NATIVE=maybe is neither 0 nor 1"
    assert "unset" in found.remedy


def test_that_an_installation_has_no_kernels_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "LIBRARY", tmp_path / "kernels.shared")
    monkeypatch.setenv("CC", "no-such-compiler")
    command.main(["--if-missing"])
    assert "no C compiler was found (no-such-compiler)" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no C compiler was found"):
        command.main([])


def test_a_broken_library_is_told_and_left(tmp_path: Path) -> None:
    path = tmp_path / "kernels.shared"
    path.write_bytes(b"\x7fELF and no more")
    found = open_library(path)
    assert isinstance(found, Missing)
    assert "cannot be loaded" in found.reason


@needs_library
def test_a_stale_library_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "source_digest", lambda: "of other sources")
    found = open_library(building.LIBRARY)
    assert isinstance(found, Missing)
    assert "other sources" in found.reason


@needs_library
def test_the_switch_turns_kernels_off_and_the_numbers_stay() -> None:
    code = (
        "from driftfold.run import run; from driftfold.spec import load_spec;"
        "r = run(load_spec('pca-synthetic', overrides=['horizon.rounds=5']));"
        "from driftfold.native import library;"
        "print(bool(library().identity), *r.model.ravel()[:50].tolist())"
    )
    answers = []
    for switch in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, SWITCH: switch},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        answers.append(done.stdout.split())
    assert [a[0] for a in answers] == ["False", "True"]
    off, on = (np.array(a[1:], dtype=float) for a in answers)
    np.testing.assert_allclose(on, off, rtol=0, atol=1e-12)


@needs_library
def test_a_size_that_is_not_compiled_is_refused() -> None:
    found = library()
    assert isinstance(found, Library)
    kernel = Kernel("lorentz_mean", 40, 1, 40, np.zeros((1, 1, 40)), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="no kernel lorentz_mean of size 40"):
        Descender(found, kernel)


@needs_compiler
def test_a_compiler_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(building.BuildError, match="false failed"):
        building.build(tmp_path / "kernels.shared", only=[])
    assert not list(tmp_path.iterdir())


def test_no_compiler_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(building.BuildError, match="no C compiler"):
        building.compiler()


@needs_compiler
def test_a_library_without_a_fitting_level_is_left(tmp_path: Path) -> None:
    path = tmp_path / "kernels.shared"
    building.build(path, only=[])
    found = open_library(path)
    assert isinstance(found, Missing)
    assert "runs none" in found.reason

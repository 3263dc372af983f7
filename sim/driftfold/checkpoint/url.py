"""Checkpoint stores by URL."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from driftfold.checkpoint.base import CheckpointStore
from driftfold.checkpoint.disk import DiskStore
from driftfold.checkpoint.memory import MemoryStore
from driftfold.checkpoint.remote import RemoteStore
from driftfold.errors import CheckpointError, PlaceError
from driftfold.files import files_at

Opener = Callable[[str], CheckpointStore]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C: is a drive
_shared: dict[str, MemoryStore] = {}


def open_store(url: str | Path) -> CheckpointStore:
    """Return the store that `url` names.

    A path or file:// URL is a folder, made when first needed; relative paths are taken from the
    present working directory, now. memory://NAME is one store in this process for each name. Any
    other URL is one of fsspec's. Raises `CheckpointError` where nobody knows the scheme.

    >>> open_store("memory://tests") is open_store("memory://tests")
    True
    >>> open_store("nowhere://runs")
    Traceback (most recent call last):
    driftfold.errors.CheckpointError: cannot reach 'nowhere://runs': Protocol not known: nowhere; \
install what fsspec needs for nowhere://, or give a folder
    """
    scheme = _SCHEME.match(str(url))
    if isinstance(url, Path) or scheme is None:
        return DiskStore(Path(url).absolute())
    opener = _openers.get(scheme[1].lower())
    try:
        return RemoteStore(files_at(url)) if opener is None else opener(url)
    except PlaceError as error:
        raise CheckpointError(str(error)) from error


def add_scheme(scheme: str, opener: Opener) -> None:
    """Let `open_store` open URLs that start with `scheme`:// by calling `opener` on them.

    Raises `CheckpointError` when another opener has the scheme.
    """
    scheme = scheme.lower()
    if _openers.setdefault(scheme, opener) is not opener:
        raise CheckpointError(f"{scheme}:// already opens another store; choose another scheme")


def _open_file(url: str) -> CheckpointStore:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        raise CheckpointError(
            f"cannot open {url!r}: a file URL names no host and a full path; "
            "write file:///folder/name, or give a plain path"
        )
    return DiskStore(Path(unquote(parts.path)))


def _open_memory(url: str) -> CheckpointStore:
    return _shared.setdefault(url.partition("://")[2], MemoryStore())


_openers: dict[str, Opener] = {"file": _open_file, "memory": _open_memory}

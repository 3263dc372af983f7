"""Checkpoint stores by URL."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from driftfold.checkpoint.base import CheckpointStore
from driftfold.checkpoint.disk import DiskStore
from driftfold.checkpoint.memory import MemoryStore
from driftfold.errors import CheckpointError

Opener = Callable[[str], CheckpointStore]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C: is a drive
_shared: dict[str, MemoryStore] = {}


def open_store(url: str | Path) -> CheckpointStore:
    """Return the store that `url` names.

    A path or file:// URL is a folder, made when first needed; relative paths are taken from the
    present working directory, now. memory://NAME is one store in this process for each name.
    Raises `CheckpointError` for an unknown scheme.

    >>> open_store("memory://tests") is open_store("memory://tests")
    True
    >>> open_store("s3://bucket/runs")
    Traceback (most recent call last):
    driftfold.errors.CheckpointError: cannot open 's3://bucket/runs': no store is known for s3://; \
give a path or a URL with one of file://, memory://
    """
    scheme = _SCHEME.match(str(url))
    if isinstance(url, Path) or scheme is None:
        return DiskStore(Path(url).absolute())
    opener = _openers.get(scheme[1].lower())
    if opener is None:
        known = ", ".join(f"{name}://" for name in sorted(_openers))
        raise CheckpointError(
            f"cannot open {url!r}: no store is known for {scheme[0]}; "
            f"give a path or a URL with one of {known}"
        )
    return opener(url)


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

